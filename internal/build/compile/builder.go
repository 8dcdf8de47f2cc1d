package compile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/build/component"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/build/source/gomod"
)

// Job is one component to build, with everything that decides how.
type Job struct {
	File      *pins.File
	Component *pins.Component
	Locked    *pins.Locked
	// Stamps are the rendered values of the component's stamped variables.
	Stamps map[string]string
}

// LicenseTexts are the locked licence texts of all that the jobs of a file link, nil for
// none. without is the number of programs whose lock, of an older bake, names none.
func LicenseTexts(file *pins.File, jobs []*Job) (data []byte, without int, err error) {
	texts, err := pins.Texts(file)
	if err != nil {
		return nil, 0, err
	}
	var linked []*pins.Locked
	for _, j := range jobs {
		linked = append(linked, j.Locked)
		if j.Component.Program() && !j.Locked.HasTexts() {
			without++
		}
	}
	data, err = texts.Encode(linked)
	return data, without, err
}

// Artifact is one built or carried file, in the store.
type Artifact struct {
	Component string `json:"component"`
	// Digest is "sha256:<hex>" of the file, Size its bytes.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Action is the digest of the action that made it; empty for files that
	// are carried as they are.
	Action string `json:"action,omitempty"`
	// Unsigned is the digest of what was built, where Digest is that of the signed
	// program.
	Unsigned string `json:"unsigned,omitempty"`
	// Cached tells that no action was run.
	Cached bool `json:"cached"`
}

// record is what the store keeps of an action that ran.
type record struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// lastRecord is the peak memory of a component's last build, in bytes, and how
// long the compiler took; 0 where that isn't known.
type lastRecord struct {
	Peak    int64   `json:"peak"`
	Seconds float64 `json:"seconds,omitempty"`
}

// how is how a job is built: whether memory needn't be spared, and what is said
// of its place among the others.
type how struct {
	spacious bool
	place    string
}

// Builder builds programs. Its fields are set before the first Build.
type Builder struct {
	Host   *gotool.Host
	Store  *cache.Store
	Git    *gitsrc.Cache
	Events event.Sink
	// Jobs bounds how many builds run at once; 0 means one per core.
	Jobs int
	// Memory bounds what they may use together, in bytes; 0 means nine
	// tenths of what the machine has free.
	Memory int64
	// NoCache runs every action again.
	NoCache bool
	// Shared is nil where artifacts stay on this machine.
	Shared *Shared
	// KeepGoing starts the remaining builds after one has failed.
	KeepGoing bool

	checker gomod.Checker
}

// Lookup returns job's artifact if its action ran before, and nil if not. It
// doesn't read the artifact's bytes.
func (b *Builder) Lookup(ctx context.Context, job *Job) (*Artifact, error) {
	if !job.Component.Program() {
		return b.lookupFile(job)
	}
	action, _, err := b.key(ctx, job)
	if err != nil {
		return nil, err
	}
	var r record
	if !b.Store.GetAction(action, &r) || !b.Store.Has(r.Digest) {
		return nil, nil
	}
	return &Artifact{Component: job.Component.Name, Digest: r.Digest, Size: r.Size, Action: action, Cached: true}, nil
}

// Build returns the artifacts of jobs, in their order. One that fails doesn't
// undo the others: what was built stays in the store. The error joins every
// component's own.
func (b *Builder) Build(ctx context.Context, jobs []*Job) ([]*Artifact, error) {
	artifacts := make([]*Artifact, len(jobs))
	var rest []int
	for i, job := range jobs {
		if b.NoCache && job.Component.Program() {
			rest = append(rest, i)
			continue
		}
		a, err := b.Lookup(ctx, job)
		if err != nil {
			return nil, err
		}
		if artifacts[i] = a; a == nil {
			rest = append(rest, i)
			continue
		}
		b.emit(job, event.Compile, event.Cached, "")
	}
	rest, err := b.fetch(ctx, jobs, rest, artifacts)
	if err != nil {
		return nil, err
	}
	if err := b.missing(jobs, rest); err != nil {
		return nil, err
	}
	err = b.buildRest(ctx, jobs, rest, artifacts)
	return artifacts, errors.Join(err, b.share(ctx, jobs, artifacts))
}

// buildRest runs the actions of jobs[i] for each i in rest. The heaviest go
// first: one of them alone can take as long as all others together.
func (b *Builder) buildRest(ctx context.Context, jobs []*Job, rest []int, artifacts []*Artifact) error {
	slices.SortStableFunc(rest, func(x, y int) int {
		return int((b.estimate(jobs[y]) - b.estimate(jobs[x])) >> 20)
	})
	limit := newLimiter(b.Jobs, b.Memory)
	needs := make([]int64, len(rest))
	for n, i := range rest {
		needs[n] = b.estimate(jobs[i])
	}
	spacious := limit.spacious(needs)
	errs := make([]error, len(jobs))
	starting, stop := context.WithCancel(ctx) // ends before what was started
	defer stop()
	var wg sync.WaitGroup
	for n, i := range rest {
		h := how{spacious: spacious}
		if len(rest) > 1 {
			h.place = fmt.Sprintf("%d of %d", n+1, len(rest))
		}
		release, err := limit.acquire(starting, needs[n])
		if err != nil {
			break
		}
		wg.Go(func() {
			defer release()
			artifacts[i], errs[i] = b.build(ctx, jobs[i], h)
			if errs[i] != nil && !b.KeepGoing {
				stop()
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(errs...)
}

func (b *Builder) build(ctx context.Context, job *Job, h how) (_ *Artifact, err error) {
	began := time.Now()
	defer func() {
		if err != nil && ctx.Err() == nil {
			b.emit(job, event.Compile, event.Failed, "")
		}
	}()
	if !job.Component.Program() {
		return b.carry(ctx, job)
	}
	toolchain, err := b.toolchain(ctx, job)
	if err != nil {
		return nil, explain(job, "its toolchain can't be used", err)
	}
	dir, cleanup, err := b.Store.TempDir()
	if err != nil {
		return nil, err
	}
	defer cleanup() //nolint:errcheck // what stays behind, the next run removes
	exe := filepath.Join(dir, "out.exe")
	if err := b.compile(ctx, job, dir, exe, h); err != nil {
		return nil, err
	}
	if err := b.inspect(job, toolchain, exe); err != nil {
		return nil, err
	}
	a, err := b.store(ctx, job, exe, NewAction(job, toolchain).Digest())
	if err == nil {
		b.emit(job, event.Compile, event.Done, time.Since(began).Round(time.Second).String())
	}
	return a, err
}

func (b *Builder) store(ctx context.Context, job *Job, exe, action string) (*Artifact, error) {
	f, err := os.Open(exe)
	if err != nil {
		return nil, fmt.Errorf("open what was built: %w", err)
	}
	defer f.Close()
	digest, size, err := b.Store.Put(ctx, f)
	if err != nil {
		return nil, err
	}
	if err := b.Store.PutAction(action, record{Digest: digest, Size: size}); err != nil {
		return nil, err
	}
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: size, Action: action}, nil
}

// carryKey is where it is kept which file was carried.
func carryKey(kind component.File, p source.Pin) string {
	return DigestOf("carry\x00" + kind.Key(p))
}

// memoryKey is where a component's lastRecord is kept. It isn't an action: only
// the order of work, and what is said of it, depend on it.
func memoryKey(job *Job) string {
	return DigestOf("memory\x00" + job.Component.Name + "\x00" + job.Component.Module + job.Component.Git)
}

// last is what was measured here; all zero where nothing was.
func (b *Builder) last(job *Job) (r lastRecord) {
	if !b.Store.GetAction(memoryKey(job), &r) {
		return lastRecord{}
	}
	return r
}

// reportProgress shows until stopped that a compiler runs: its place, and how long it
// took last time where that is worth a word.
func (b *Builder) reportProgress(job *Job, place string, last lastRecord) (stop func()) {
	if took := time.Duration(last.Seconds * float64(time.Second)); took >= time.Minute/2 {
		place = strings.TrimPrefix(fmt.Sprintf("%s, about %.0f min, as last time", place, max(1, took.Minutes())), ", ")
	}
	b.emit(job, event.Compile, event.Start, place)
	ticker, done := time.NewTicker(5*time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				b.emit(job, event.Compile, event.Progress, place)
			case <-done:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}

// Cost is how many seconds the last compile of a program took here, 0 where there was
// none, and how many bytes one needs.
func (b *Builder) Cost(job *Job) (seconds float64, memory int64) {
	return b.last(job).Seconds, b.estimate(job)
}

// estimate returns how many bytes job's build needs: what was measured here,
// what versions.yaml says, or defaultMemory.
func (b *Builder) estimate(job *Job) int64 {
	if peak := b.last(job).Peak; peak > 0 {
		return peak
	}
	if n := job.Component.MemoryBytes(); n > 0 {
		return n
	}
	return defaultMemory
}

func (b *Builder) emit(job *Job, phase event.Phase, state event.State, message string) {
	b.Events.Emit(event.Event{Object: job.Component.Name, Phase: phase, State: state, Message: message})
}

func (b *Builder) warn(job *Job, message string) {
	b.emit(job, event.Compile, event.Warning, message)
}

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
			switch err := b.read(ctx, a.Digest); {
			case errors.Is(err, cache.ErrDamaged), errors.Is(err, fs.ErrNotExist):
				b.warn(jobs[i], "its artifact in the cache was damaged; building it again")
				sound = false
			case err != nil:
				return nil, err
			}
		}
		if sound {
			return artifacts, nil
		}
		// read removed what was damaged, so the next round builds it; what
		// this run built isn't asked again even without a cache.
		b.NoCache = false
	}
}

// read reads all of an artifact, which the store hashes.
func (b *Builder) read(ctx context.Context, digest string) error {
	return stream.Copy(ctx, io.Discard, func() (io.ReadCloser, error) { return b.Store.Open(digest) }, make([]byte, stream.BufferSize))
}

// NewAction describes how job's program is built by a toolchain that calls
// itself toolchain.
func NewAction(job *Job, toolchain string) *Action {
	c, l := job.Component, job.Locked
	var godebug *pins.Godebug
	if c.Godebug != nil {
		godebug = &pins.Godebug{Go: c.Godebug.Go, Set: c.Godebug.Set} // a reason decides nothing
	}
	return &Action{
		Godebug: godebug,
		Version: component.Of(c).(component.Program).Revision(), Kind: c.Kind(),
		Module: l.Module, ModuleAt: l.Version, Sum: l.Sum,
		Commit: l.Commit, Tree: l.Tree, Date: l.Date, Dir: c.Dir, Modules: c.Submodules,
		GoMod: l.GoMod, GoSum: l.GoSum,
		Package: c.BuildPackage(), Toolchain: toolchain, GoSums: l.ToolchainSums,
		Settings: gotool.Target(c.FIPS), Flags: buildFlags(c), Stamps: job.Stamps,
	}
}

// carry brings a file into the store and compares it with its pin.
func (b *Builder) carry(ctx context.Context, job *Job) (*Artifact, error) {
	kind, p := component.Of(job.Component).(component.File), job.pin()
	b.emit(job, event.Fetch, event.Start, "")
	content, err := kind.Open(ctx, b.env(), p)
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // only read
	digest, size, err := b.Store.Put(ctx, content)
	if err != nil {
		return nil, err
	}
	if err := kind.Compare(p, strings.TrimPrefix(digest, "sha256:")); err != nil {
		return nil, err
	}
	// The record says that the file is the source's.
	if err := b.Store.PutAction(carryKey(kind, p), record{Digest: digest, Size: size}); err != nil {
		return nil, err
	}
	b.emit(job, event.Fetch, event.Done, "")
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: size}, nil
}
