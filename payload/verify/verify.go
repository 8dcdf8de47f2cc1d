package verify

import (
	"context"
	"slices"

	"github.com/winbake/winbake/internal/image/oci"
)

// Check reads the payload of every Linux image of a source, and what is in
// its ExtrasRoot, and returns what is wrong with it, sorted by object. Entries
// that aren't safe, and images beyond the limits, are problems and not errors.
//
// The error is for what can't be checked at all: a source that can't be read
// or contradicts its own digests, or the end of ctx. Problems found up to then
// are dropped, since they may be the damage's.
func Check(ctx context.Context, source Source, opts Options) ([]Problem, Summary, error) {
	s, err := opened(source)
	if err != nil {
		return nil, Summary{}, err
	}
	sum := Summary{Folder: s.Kind == oci.KindDir, Reference: s.Reference()}
	c := &checker{source: s, opts: opts}
	if sum.Folder {
		r, err := c.payload(ctx, oci.PlatformImage{})
		if err != nil {
			return nil, sum, err
		}
		sum.Images = []ImageSummary{r.summary}
		ps := slices.Concat(r.problems, r.expected(opts.Expected))
		sortProblems(ps)
		return ps, sum, nil
	}
	images, err := s.Images()
	if err != nil {
		return nil, sum, err
	}
	ps, err := c.images(ctx, images, &sum)
	return ps, sum, err
}

func (c *checker) images(ctx context.Context, images []oci.PlatformImage, sum *Summary) ([]Problem, error) {
	var all []Problem
	c.known = map[string]*result{}
	for _, i := range images {
		r, err := c.image(ctx, i)
		if err != nil {
			return nil, err
		}
		platform := i.Platform.String()
		r.summary.Platform, r.summary.Digest = platform, i.Digest.String()
		own, err := c.own(i, &r)
		if err != nil {
			return nil, err
		}
		sum.Images = append(sum.Images, r.summary)
		for _, p := range slices.Concat(r.problems, own) {
			if len(images) > 1 {
				p.Object = platform + " " + p.Object
			}
			all = append(all, p)
		}
	}
	sortProblems(all)
	return all, nil
}
