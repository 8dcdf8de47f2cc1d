package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/proc"
	"github.com/winbake/winbake/internal/build/component"
	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gomod"
	"github.com/winbake/winbake/internal/windows/pe"
)

// buildFlags are go build's, without -mod and -ldflags.
func buildFlags(c *pins.Component) []string {
	flags := []string{"-trimpath", "-buildvcs=false", "-gcflags=" + expect.CompilerFlags}
	if len(c.Tags) > 0 {
		flags = append(flags, "-tags="+strings.Join(c.Tags, ","))
	}
	return flags
}

// linkerFlags writes stamps in go's own quoting, sorted: their order would
// reach the build id.
func linkerFlags(stamps map[string]string) string {
	flags := []string{ldflags}
	for _, name := range slices.Sorted(maps.Keys(stamps)) {
		flags = append(flags, "-X", quote(name+"="+stamps[name]))
	}
	return strings.Join(flags, " ")
}

// quote quotes one linker flag as cmd/internal/quoted reads it back: it knows
// both quotes and no escapes.
func quote(s string) string {
	switch {
	case !strings.ContainsAny(s, " \t\n'\""):
		return s
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	default:
		return `"` + s + `"`
	}
}

// lazyCollector has the toolchain's own programs collect their garbage less
// often. It reaches no byte of what they write.
const lazyCollector = "GOGC=400"

// noPrograms keeps go build from a linker of this machine, which it gives what its own
// can't read: a .syso of somebody else's.
const noPrograms = "PATH="

func (b *Builder) compile(ctx context.Context, job *Job, dir, exe string, h how) error {
	tool := b.Host.Tool(job.Component.Toolchain(job.File))
	tool.Temp = filepath.Join(dir, "_tmp") // no package of the workspace: go skips the name
	if err := os.Mkdir(tool.Temp, 0o700); err != nil {
		return fmt.Errorf("make a folder for the compiler: %w", err)
	}
	b.emit(job, event.Fetch, event.Start, "")
	if err := gomod.ProveToolchain(ctx, tool, job.Locked.ToolchainSums); err != nil {
		return explain(job, "its toolchain can't be used", err)
	}
	w, err := component.Of(job.Component).(component.Program).Workspace(ctx, b.env(), job.pin(), dir)
	if err != nil {
		return err
	}
	linked, err := gomod.List(ctx, w.Query(tool, job.Component))
	if err != nil {
		return explain(job, "its sources can't be loaded", err)
	}
	b.emit(job, event.Check, event.Start, "")
	if err := b.checkSources(ctx, job, w, linked); err != nil {
		return err
	}
	last := b.last(job)
	defer b.reportProgress(job, h.place, last)()
	args := slices.Concat([]string{"build", "-mod=" + w.Mod}, buildFlags(job.Component),
		[]string{"-ldflags=" + linkerFlags(job.Stamps), "-o", exe, "--", job.Component.BuildPackage()})
	cmd := tool.Command(ctx, w.Dir, w.Target, args...)
	cmd.Env = append(cmd.Env, noPrograms)
	if h.spacious {
		cmd.Env = append(cmd.Env, lazyCollector)
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	if err = cmd.Run(); err == nil {
		last.Seconds = time.Since(began).Seconds()
	}
	if last.Peak = proc.PeakMemory(cmd); last.Peak > 0 {
		_ = b.Store.PutAction(memoryKey(job), last) // lost measurements cost a worse guess next time
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return explain(job, "it doesn't compile", gotool.NewFailure(args, output.String(), err))
	}
	return nil
}

// checkSources proves what is about to be compiled. A vendored tree was
// proved when it was checked out.
func (b *Builder) checkSources(ctx context.Context, job *Job, w *source.Workspace, linked *gomod.Linked) error {
	if w.Vendored() {
		return nil
	}
	sums := gomod.ParseSums(w.GoSum)
	if l := job.Locked; l.Module != "" && sums.Of(l.Module, l.Version) != l.Sum {
		return &fault.Error{Where: job.Component.Name, What: fmt.Sprintf("go.sum and lock.yaml name different sums of %s %s", l.Module, l.Version), Fix: job.pin().LockCommand()}
	}
	return b.checker.Check(ctx, linked.Modules, sums)
}

// inspect reads the executable back and compares it with its pin: a stamp
// that the linker ignored or a lost GODEBUG stops the build here.
func (b *Builder) inspect(job *Job, toolchain, exe string) error {
	b.emit(job, event.Inspect, event.Start, "")
	f, err := os.Open(exe)
	if err != nil {
		return fmt.Errorf("open what was built: %w", err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("measure what was built: %w", err)
	}
	image, err := pe.Read(f, size)
	if err != nil {
		return fmt.Errorf("read what was built: %w", err)
	}
	want := expect.For(job.Component, job.File, job.Locked, job.Stamps)
	if toolchain != job.Component.Toolchain(job.File) {
		want.GoVersion = "" // the builder's own Go: whatever it says of itself
	}
	findings := want.Check(job.Component.Name, image)
	finding.Sort(findings)
	for _, fd := range findings {
		if fd.Severity >= finding.Unknown {
			return &fault.Error{Where: job.Component.Name, Code: finding.ExitBlock,
				What: fmt.Sprintf("what was built isn't what is pinned (%s): observed %s, expected %s", fd.ID, fd.Observed, fd.Expected),
				Fix:  job.pin().LockCommand(), Excerpt: fd.Why}
		}
	}
	return nil
}

const diskFull = "no space left on device"

// explain turns a go command's failure into what a person needs of it.
func explain(job *Job, what string, err error) error {
	failure, ok := errors.AsType[*gotool.Failure](err)
	if !ok {
		return fmt.Errorf("%s: %w", job.Component.Name, err)
	}
	excerpt := failure.Message
	for line := range strings.Lines(excerpt) { // each package says it again
		if strings.Contains(line, diskFull) {
			what, excerpt = "a disk is full", line
			break
		}
	}
	return &fault.Error{Where: job.Component.Name, What: what, Excerpt: excerpt, Err: err, Fix: adviceFor(job, excerpt)}
}

const damaged = "what GOPROXY or the bundle has is damaged: fetch or copy it again"

func adviceFor(job *Job, message string) string {
	for _, a := range []struct{ sign, fix string }{
		{"SECURITY ERROR", "the sources aren't what the lock says: don't build from this proxy; compare with another (GOPROXY)"},
		{"checksum mismatch", "the sources aren't what the lock says: don't build from this proxy; compare with another (GOPROXY)"},
		{": reading file", "GOPROXY's folder, or the bundle, doesn't have it; where the network is: bake bundle --out sources.tar"},
		{"flate: corrupt", damaged},
		{"zip: ", damaged},
		{"running gcc failed", "pin a version without the object (.syso) of its package, which Go's own linker can't read, or tags that leave it out"},
		{"missing go.sum entry", job.pin().LockCommand()},
		{"updates to go.mod needed", job.pin().LockCommand()},
		{"requires go >=", "pin a newer toolchain in versions.yaml (go:), or an older version of the component"},
		{"toolchain not available", "check the go: version in versions.yaml, and that GOPROXY serves golang.org/toolchain"},
		{"is not in std", "check package: in versions.yaml"},
		{"does not contain package", "check package: in versions.yaml"},
		{diskFull, "make room, or set --cache-dir and GOCACHE to a larger disk"},
		{"signal: killed", "the compiler was killed, mostly for lack of memory: bake build --jobs 1, or set memory: of the component"},
		{"disabled by GOPROXY=off", "this machine doesn't have the sources, and GOPROXY=off forbids to fetch them: set it to a proxy, or to a folder that has them (file://)"},
		{"dial tcp", "check the network and GOPROXY (go env GOPROXY)"},
		{": reading http", "GOPROXY doesn't have it, or wants a login (go env GOPROXY; a password goes into ~/.netrc)"},
		{".go:", "pin a version or commit that compiles for Windows, or another go: in versions.yaml"},
	} {
		if strings.Contains(message, a.sign) {
			return a.fix
		}
	}
	return ""
}

func (j *Job) pin() source.Pin {
	return source.Pin{File: j.File, Component: j.Component, Locked: j.Locked}
}

func (b *Builder) env() *source.Env {
	return &source.Env{Host: b.Host, Git: b.Git, Events: b.Events}
}

// lookupFile finds a carried file in the store. Its source has said before what
// the file is: the lock alone doesn't count.
func (b *Builder) lookupFile(job *Job) (*Artifact, error) {
	kind, p := component.Of(job.Component).(component.File), job.pin()
	if err := kind.Check(p); err != nil {
		return nil, err
	}
	digest := "sha256:" + job.Locked.SHA256
	var r record
	if !b.Store.GetAction(carryKey(kind, p), &r) || r.Digest != digest || !b.Store.Has(digest) {
		return nil, nil // it is carried into the store
	}
	return &Artifact{Component: job.Component.Name, Digest: digest, Size: r.Size, Cached: true}, nil
}
