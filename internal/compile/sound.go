package compile

import (
	"context"
	"errors"
	"io/fs"

	"github.com/winbake/winbake/internal/cas"
)

// BuildSound is Build, and reads every artifact that came from the store
// against its digest. Damaged ones are reported and built again.
func (b *Builder) BuildSound(ctx context.Context, jobs []*Job) ([]*Artifact, error) {
	for {
		artifacts, err := b.Build(ctx, jobs)
		if err != nil {
			return artifacts, err
		}
		sound := true
		for i, a := range artifacts {
			if !a.Cached {
				continue
			}
			switch err := b.Store.Verify(a.Digest); {
			case errors.Is(err, cas.ErrDamaged), errors.Is(err, fs.ErrNotExist):
				b.warn(jobs[i], "its artifact in the cache was damaged; building it again")
				sound = false
			case err != nil:
				return nil, err
			}
		}
		if sound {
			return artifacts, nil
		}
		// Verify removed what was damaged, so the next round builds it; what
		// this run built isn't asked again even without a cache.
		b.NoCache = false
	}
}
