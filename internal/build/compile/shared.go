package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/component"
	"github.com/winbake/winbake/internal/image/oci"
)

// ArtifactType is the media type of artifacts in a registry.
const ArtifactType = "application/vnd.winbake.artifact.v1"

// The annotations of an artifact in a registry.
const (
	componentKey = "dev.winbake.component"
	actionKey    = "dev.winbake.action"
	toolchainKey = "dev.winbake.toolchain"
	outputKey    = "dev.winbake.output"
)

// atOnce is how many artifacts are read or written at the same time.
const atOnce = 4

// Shared is where artifacts are read from and written to besides the store.
type Shared struct {
	// From are repositories of registries, the first that has an artifact counts, and To
	// is the one that gets what it lacks; "" for none.
	From []string
	To   string
	// Trust takes an artifact whose sum the lock doesn't have.
	Trust bool
	// NoCompile makes an error of what would have to be compiled. Then there needn't be
	// a Host.
	NoCompile bool
	Options   oci.Options

	mu   sync.Mutex
	open map[string]*oci.Artifacts // nil for a registry that failed
}

// repository is nil for one that failed before in this run.
func (s *Shared) repository(ctx context.Context, ref string) (*oci.Artifacts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, known := s.open[ref]; known {
		return r, nil
	}
	r, err := oci.OpenArtifacts(ctx, ref, s.Options)
	if s.open == nil {
		s.open = map[string]*oci.Artifacts{}
	}
	s.open[ref] = r
	return r, err
}

func (s *Shared) failed(ref string) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.open[ref] != nil
	s.open[ref] = nil
	return first
}

// key is under what a job's artifact is kept, in the store and as a registry's tag, and
// the sum that the lock has of it. Both are "" for a file of this machine.
func (b *Builder) key(ctx context.Context, job *Job) (key, output string, err error) {
	if !job.Component.Program() {
		if job.Component.File != "" {
			return "", "", nil
		}
		return carryKey(component.Of(job.Component).(component.File), job.pin()), "sha256:" + job.Locked.SHA256, nil
	}
	toolchain, err := b.toolchain(ctx, job)
	if err != nil {
		return "", "", err
	}
	key = NewAction(job, toolchain).Digest()
	if o := job.Locked.Output; o != nil && o.Action == key {
		output = o.SHA256
	}
	return key, output, nil
}

// fetch brings artifacts of jobs[i], for each i in rest, from a registry into the store,
// and returns the others.
func (b *Builder) fetch(ctx context.Context, jobs []*Job, rest []int, artifacts []*Artifact) (left []int, err error) {
	if b.Shared == nil || len(b.Shared.From) == 0 || len(rest) == 0 {
		return rest, nil
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, i := range rest {
		g.Go(func() (err error) {
			artifacts[i], err = b.fetchOne(ctx, jobs[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, i := range rest {
		if artifacts[i] == nil {
			left = append(left, i)
		}
	}
	return left, ctx.Err()
}

func (b *Builder) fetchOne(ctx context.Context, job *Job) (*Artifact, error) {
	key, output, err := b.key(ctx, job)
	if err != nil || key == "" {
		return nil, err
	}
	if output == "" && !b.Shared.Trust {
		b.warn(job, "versions.lock has no output of it, so no registry is believed: bake build --record writes it, --cache-trust believes a private registry")
		return nil, nil
	}
	for _, ref := range b.Shared.From {
		repository, err := b.Shared.repository(ctx, ref)
		if err != nil {
			return nil, err
		}
		if repository == nil {
			continue
		}
		a, err := b.take(ctx, job, repository, key, output)
		switch {
		case err == nil:
			b.emit(job, event.Fetch, event.Cached, "from "+ref)
			return a, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, oci.ErrNotThere):
		case errors.As(err, new(refused)):
			b.warn(job, ref+": "+err.Error())
		case b.Shared.failed(ref):
			b.warn(job, ref+" can't be read, and isn't asked again: "+fault.FirstLine(err))
		}
	}
	return nil, nil
}

// refused is why an artifact of a registry isn't taken.
type refused string

func (r refused) Error() string { return string(r) }

// take stores what a registry has under key, which must be output. Where the lock has
// none, it is at least what the registry says, and what the pins say of the program.
func (b *Builder) take(ctx context.Context, job *Job, repository *oci.Artifacts, key, output string) (*Artifact, error) {
	annotations, open, err := repository.Find(ctx, ArtifactType, tagOf(key))
	if err != nil {
		if _, ok := errors.AsType[*fault.Error](err); !ok && !errors.Is(err, oci.ErrNotThere) {
			err = refused(err.Error())
		}
		return nil, err
	}
	if annotations[actionKey] != key {
		return nil, refused(fmt.Sprintf("what it has for %s was made by another action, %s", job.Component.Name, annotations[actionKey]))
	}
	want := cmp.Or(output, annotations[outputKey])
	content, err := open()
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // only read
	digest, size, err := b.Store.Put(ctx, io.LimitReader(content, maxArtifact))
	if err != nil {
		return nil, refused(fmt.Sprintf("what it has for %s can't be read: %s", job.Component.Name, err))
	}
	if digest != want {
		return nil, refused(fmt.Sprintf("it has other bytes for %s, %s, than the lock, %s: they aren't taken", job.Component.Name, digest, want))
	}
	if output == "" && job.Component.Program() {
		if err := b.inspect(job, annotations[toolchainKey], b.Store.Path(digest)); err != nil {
			return nil, refused(fault.FirstLine(err))
		}
	}
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: size, Action: actionOf(job, key), Cached: true}, b.Store.PutAction(key, record{Digest: digest, Size: size})
}

// maxArtifact is far above the largest node program, 130 MB.
const maxArtifact = 1 << 30

// actionOf is an artifact's action: files that are carried have none.
func actionOf(job *Job, key string) string {
	if !job.Component.Program() {
		return ""
	}
	return key
}

// tagOf is the tag of an artifact, the action's digest: a tag has no colon.
func tagOf(key string) string { return strings.TrimPrefix(key, "sha256:") }

// InRegistry tells whether a registry of From has what would have to be compiled, and is
// believed.
func (b *Builder) InRegistry(ctx context.Context, job *Job) (bool, error) {
	if b.Shared == nil {
		return false, nil
	}
	key, output, err := b.key(ctx, job)
	if err != nil || key == "" || output == "" && !b.Shared.Trust {
		return false, err
	}
	for _, ref := range b.Shared.From {
		repository, err := b.Shared.repository(ctx, ref)
		if err != nil {
			return false, err
		}
		if has, err := repository.Has(ctx, tagOf(key)); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// share writes artifacts to To that it lacks. A registry that fails costs a warning:
// the work is done.
func (b *Builder) share(ctx context.Context, jobs []*Job, artifacts []*Artifact) error {
	if b.Shared == nil || b.Shared.To == "" {
		return nil
	}
	ref := b.Shared.To
	if _, err := b.Shared.repository(ctx, ref); err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, a := range artifacts {
		if a == nil {
			continue
		}
		g.Go(func() error {
			if err := b.shareOne(ctx, jobs[i], a, ref); err != nil && ctx.Err() == nil && b.Shared.failed(ref) {
				b.warn(jobs[i], ref+" can't be written to, and gets nothing more: "+fault.FirstLine(err))
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

func (b *Builder) shareOne(ctx context.Context, job *Job, a *Artifact, ref string) error {
	key, _, err := b.key(ctx, job)
	if err != nil || key == "" {
		return err
	}
	repository, err := b.Shared.repository(ctx, ref)
	if err != nil || repository == nil {
		return err
	}
	if has, err := repository.Has(ctx, tagOf(key)); has || err != nil {
		return err
	}
	annotations := map[string]string{componentKey: job.Component.Name, actionKey: key, outputKey: a.Digest}
	if job.Component.Program() {
		if annotations[toolchainKey], err = b.toolchain(ctx, job); err != nil {
			return err
		}
	}
	content, err := b.Store.Open(a.Digest)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // only read
	image, err := oci.NewArtifact(ArtifactType, annotations, content)
	if err != nil {
		return err
	}
	if _, err := oci.Push(ctx, ref+":"+tagOf(key), image, b.Shared.Options); err != nil {
		return err
	}
	b.emit(job, event.Push, event.Done, "to "+ref)
	return nil
}

// missing refuses to compile where NoCompile says so.
func (b *Builder) missing(jobs []*Job, rest []int) error {
	if b.Shared == nil || !b.Shared.NoCompile {
		return nil
	}
	var names []string
	for _, i := range rest {
		if c := jobs[i].Component; c.Program() || c.Git != "" {
			names = append(names, shell.Word(c.Name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	to := "REF"
	if len(b.Shared.From) > 0 {
		to = shell.Word(b.Shared.From[0])
	}
	return &fault.Error{
		Where: jobs[0].File.Path, Code: finding.ExitBlock,
		What: "nothing may be compiled (--no-compile), and no registry gave " + strings.Join(names, ", "),
		Fix:  "where Go and git are: bake build -f " + shell.Word(jobs[0].File.Path) + " " + strings.Join(names, " ") + " --record --cache-to " + to,
	}
}

// toolchain is what a program's toolchain calls itself. A machine that compiles nothing
// needs none.
func (b *Builder) toolchain(ctx context.Context, job *Job) (string, error) {
	name := job.Component.Toolchain(job.File)
	if b.Host == nil {
		if name == "local" {
			return "", &fault.Error{Where: job.Component.Name, What: "go: local is whatever Go a machine has, and this one has none", Fix: `pin a toolchain in versions.yaml, such as go: "1.26.8"`}
		}
		return name, nil
	}
	return b.Host.Tool(name).Version(ctx)
}
