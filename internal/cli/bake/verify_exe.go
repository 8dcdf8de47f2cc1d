package bake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/payload"
)

const verifyPackage = "./cmd/verify/node"

func newVerifyExe(t *tool) *cobra.Command {
	var out string
	var o buildOptions
	build := func(ctx context.Context, _ []string) (app.Place, error) {
		path, err := t.verifyExe(ctx, o)
		if err == nil && out != "" {
			err = copyTo(out, path)
			path = out
		}
		if err != nil {
			return app.Place{}, err
		}
		return app.Place{Path: path}, nil
	}
	cmd := app.Answer(t.App, "Place", &cobra.Command{Use: "verify-exe"}, build, app.Place.Rows)
	cmd.Flags().StringVar(&out, "out", "", "the file to write (default: only in the cache)")
	o.register(cmd)
	return cmd
}

func copyTo(to, from string) error {
	data, err := infile.Read(from, infile.Any)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = atomicfs.WriteFile(to, data)
	}
	return atomicfs.CantWrite(to, err)
}

func (t *tool) readVerifyExe(ctx context.Context, o buildOptions) ([]byte, error) {
	path, err := t.verifyExe(ctx, o)
	if err != nil {
		return nil, err
	}
	data, err := infile.Read(path, infile.Any)
	if err != nil {
		return nil, fmt.Errorf("read verify.exe: %w", err)
	}
	return data, nil
}

// verifyExe builds verify.exe of this bake's own release, and returns where it
// is in the cache.
func (t *tool) verifyExe(ctx context.Context, o buildOptions) (string, error) {
	dir, err := verifySource()
	if err != nil {
		return "", err
	}
	if dir != "" {
		return t.verifyOfCheckout(ctx, dir)
	}
	return t.verifyOfModule(ctx, app.Version(), o)
}

// verifySource is the checkout to build verify.exe from, "" for the module of
// this version.
func verifySource() (dir string, err error) {
	named := os.Getenv(sourceEnv)
	if named == "" && app.ReadBuild().Released {
		return "", nil
	}
	from := []string{named}
	if named == "" {
		self, _ := os.Executable() // "" is the current folder
		from = []string{filepath.Dir(self), "."}
	}
	for _, dir := range from {
		if dir, err = checkoutAbove(dir); err == nil {
			return dir, nil
		}
	}
	return "", &fault.Error{Where: named, What: "the source of verify.exe isn't there: this bake was built from a checkout",
		Fix: "run it in the checkout, or name that in " + sourceEnv + "; or install a release: go install " + app.Module + "/cmd/bake@latest"}
}

// sourceEnv names a checkout of this module.
const sourceEnv = "WINBAKE_SOURCE"

// checkoutAbove is dir, or the next folder above it, that has this module.
func checkoutAbove(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if mod, _ := os.ReadFile(filepath.Join(dir, "go.mod")); modfile.ModulePath(mod) == app.Module {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// verifyOfCheckout builds what is in the folder dir. Each has a program of its own
// in the cache, which go build leaves alone while it is current.
func (t *tool) verifyOfCheckout(ctx context.Context, dir string) (string, error) {
	host, err := gotool.NewHost(ctx)
	if err != nil {
		return "", err
	}
	folder, err := t.cacheFolder(payload.VerifyName)
	if err != nil {
		return "", err
	}
	place := filepath.Join(folder, compile.DigestOf(dir)[len("sha256:"):][:16])
	if err := os.MkdirAll(place, 0o755); err != nil {
		return "", atomicfs.CantWrite(place, err)
	}
	unlock, err := atomicfs.LockDir(ctx, place)
	if err != nil {
		return "", err
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	t.Tell(payload.VerifyName, event.Compile, event.Note, "from the checkout "+dir)
	exe := filepath.Join(place, payload.VerifyName)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", exe, verifyPackage}
	if _, err := host.Tool(gotool.Local).Output(ctx, dir, gotool.Target(""), args...); err != nil {
		failure, _ := errors.AsType[*gotool.Failure](err)
		if failure == nil {
			return "", err
		}
		return "", &fault.Error{Where: dir, What: "verify.exe doesn't compile", Excerpt: failure.Message, Err: err}
	}
	return exe, nil
}

// verifyPins is a versions.yaml with verify.exe as its one component.
const verifyPins = `apiVersion: winbake.dev/v1
release: "4.20"
go: %q
components:
  - name: verify
    module: ` + app.Module + `
    version: %q
    package: ` + verifyPackage + `
    payload: ` + payload.VerifyName + `
`

// plainGo is the version of a toolchain that a module proxy has.
var plainGo = regexp.MustCompile(`^go(1\.[0-9]+(?:\.[0-9]+|rc[0-9]+)?)$`)

// verifyOfModule builds the module's version as any component, with the toolchain
// that built this bake: every user of this bake gets the same bytes. Pins and lock
// stay in the cache, so that the second time needs no network.
func (t *tool) verifyOfModule(ctx context.Context, version string, o buildOptions) (string, error) {
	folder, err := t.cacheFolder(payload.VerifyName)
	if err != nil {
		return "", err
	}
	own := *t
	own.file = filepath.Join(folder, version, "versions.yaml")
	toolchain := gotool.Local
	if m := plainGo.FindStringSubmatch(runtime.Version()); m != nil {
		toolchain = m[1]
	}
	err = os.MkdirAll(filepath.Dir(own.file), 0o755)
	if err == nil {
		err = atomicfs.WriteFile(own.file, fmt.Appendf(nil, verifyPins, toolchain, version))
	}
	if err != nil {
		return "", atomicfs.CantWrite(own.file, err)
	}
	file, err := pins.Load(own.file)
	if err != nil {
		return "", err
	}
	if lock, err := pins.LoadLock(file); err != nil || len(lock.Check(file)) > 0 {
		if err := own.lock(ctx, file, nil); err != nil {
			return "", err
		}
	}
	rows, err := own.build(ctx, nil, o)
	if err != nil {
		return "", err
	}
	return rows[0].Path, nil
}
