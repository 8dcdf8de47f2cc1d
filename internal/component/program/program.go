// Package program describes a program for its lock, whichever kind of
// component it is: what it links, of which licences, and which of its
// variables the linker can stamp.
package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/gotool"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/source"
	"github.com/winbake/winbake/internal/source/gomod"
)

// Describe asks what the program in w is made of and writes it into locked.
func Describe(ctx context.Context, env *source.Env, p source.Pin, w *source.Workspace, locked *pins.Locked) (*gomod.Linked, error) {
	linked, err := gomod.List(ctx, w.Query(env.Host.Tool(p.Toolchain(p.File)), p.Component))
	if err != nil {
		return nil, Failure(p.Component, err)
	}
	if err := checkStamps(p.Component, linked); err != nil {
		return nil, err
	}
	if err := mainLines(w.GoMod, locked); err != nil {
		return nil, err
	}
	locked.Toolchain = p.Toolchain(p.File)
	locked.DefaultGODEBUG = linked.DefaultGODEBUG
	locked.Vendored = w.Vendored()
	locked.APIGroups = apiGroups(linked)
	locked.Modules, err = lockedModules(w, linked)
	if err != nil {
		return nil, err
	}
	_, err = p.Stamps(locked, "")
	return linked, err
}

// apiGroups lists csi-proxy's API groups that a program links: the service itself
// those that it serves, a driver those that it dials.
func apiGroups(linked *gomod.Linked) []string {
	var groups []string
	for pkg := range linked.Packages {
		if group, ok := strings.CutPrefix(pkg, "github.com/kubernetes-csi/csi-proxy/client/api/"); ok && strings.Count(group, "/") == 1 {
			groups = append(groups, strings.ReplaceAll(group, "/", " "))
		}
	}
	slices.Sort(groups)
	return groups
}

// Result is the lock of the program in w, with the files that a build of it
// needs.
func Result(w *source.Workspace, locked *pins.Locked) *source.Result {
	if w.Vendored() {
		return &source.Result{Locked: locked}
	}
	locked.GoMod, locked.GoSum = sum(w.GoMod), sum(w.GoSum)
	return &source.Result{Locked: locked, GoMod: w.GoMod, GoSum: w.GoSum}
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Failure makes go's own words readable as the answer to "why not".
func Failure(c *pins.Component, err error) error {
	f, ok := errors.AsType[*gotool.Failure](err)
	if !ok {
		return err
	}
	return &fault.Error{Where: c.Name, What: "its packages can't be resolved", Excerpt: f.Message, Err: err,
		Fix: "check package: and the version, and that GOPROXY has every module of it"}
}

// mainLines notes what the main module says of Go and GODEBUG.
func mainLines(main []byte, locked *pins.Locked) error {
	var godebug []*modfile.Godebug
	if f, err := modfile.Parse("go.mod", main, nil); err == nil {
		locked.GoLine, godebug = goLine(f.Go), f.Godebug
	} else if w, workErr := modfile.ParseWork("go.work", main, nil); workErr == nil {
		locked.GoLine, godebug = goLine(w.Go), w.Godebug
	} else {
		return fmt.Errorf("read the main module: %w", err)
	}
	for _, g := range godebug {
		locked.Godebug = append(locked.Godebug, g.Key+"="+g.Value)
	}
	slices.Sort(locked.Godebug)
	return nil
}

func goLine(g *modfile.Go) string {
	if g == nil {
		return gomod.NoGoLine
	}
	return g.Version
}
