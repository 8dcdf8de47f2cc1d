package gomod

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/build/gotool"
)

// Linked is what a program is made of, for windows/amd64.
type Linked struct {
	// DefaultGODEBUG is what the toolchain derives for the program from the
	// main module's go and godebug lines (https://go.dev/doc/godebug).
	DefaultGODEBUG string
	// Main is the import path of the program's own package, MainModule the
	// path of the module that has it.
	Main, MainModule string
	// Modules holds each module that gives at least one package to the
	// program, sorted by path; the main module of a checkout is left out.
	Modules []LinkedModule
	// Packages maps each linked package outside the standard library to its
	// folder.
	Packages map[string]string
	// Embedded are the files that their programs carry.
	Embedded []string
}

// LinkedModule is a selected module version and what replaces it.
type LinkedModule struct {
	Path, Version string
	Replace       *LinkedModule
	Dir           string
}

// Used returns the module whose source is compiled: the replacement if there
// is one.
func (m LinkedModule) Used() LinkedModule {
	if m.Replace != nil {
		return *m.Replace
	}
	return m
}

// Local reports whether the source is a folder of the main module's own tree
// and not a module of its own.
func (m LinkedModule) Local() bool { return m.Used().Version == "" }

// Query is a question to the go command about a program.
type Query struct {
	Tool    *gotool.Tool
	Dir     string // where the main module's go.mod lies
	Package string
	Tags    []string
	Target  []gotool.Setting
	// Mod is the -mod flag: readonly, mod or vendor.
	Mod string
}

type listed struct {
	ImportPath     string
	Dir            string
	Name           string
	Standard       bool
	DepOnly        bool
	EmbedFiles     []string
	SysoFiles      []string
	DefaultGODEBUG string
	Module         *struct {
		LinkedModule
		Main bool
	}
	Error *struct{ Err string }
}

// List resolves the program's packages, downloading what is missing.
func List(ctx context.Context, q Query) (*Linked, error) {
	args := []string{"list", "-deps", "-mod=" + q.Mod, "-trimpath", "-buildvcs=false",
		"-json=ImportPath,Dir,Name,Standard,DepOnly,EmbedFiles,SysoFiles,DefaultGODEBUG,Module,Error"}
	if len(q.Tags) > 0 {
		args = append(args, "-tags="+strings.Join(q.Tags, ","))
	}
	out, err := q.Tool.Output(ctx, q.Dir, q.Target, append(args, "--", q.Package)...)
	if err != nil {
		return nil, err
	}
	return readListed(out, q.Package)
}

func readListed(out []byte, pkg string) (*Linked, error) {
	linked := &Linked{Packages: map[string]string{}}
	seen := map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read go list's answer: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("package %s: %s", p.ImportPath, p.Error.Err)
		}
		if !p.DepOnly {
			if p.Name != "main" {
				return nil, fmt.Errorf("package %s is package %s, not a program", p.ImportPath, p.Name)
			}
			linked.DefaultGODEBUG, linked.Main = p.DefaultGODEBUG, p.ImportPath
			if p.Module != nil {
				linked.MainModule = p.Module.Path
			}
		}
		if p.Standard || p.Module == nil {
			continue
		}
		linked.Packages[p.ImportPath] = p.Dir
		for _, name := range slices.Concat(p.EmbedFiles, p.SysoFiles) {
			linked.Embedded = append(linked.Embedded, filepath.Join(p.Dir, name))
		}
		if !p.Module.Main && !seen[p.Module.Path] {
			seen[p.Module.Path] = true
			linked.Modules = append(linked.Modules, p.Module.LinkedModule)
		}
	}
	if len(linked.Packages) == 0 {
		return nil, fmt.Errorf("package %s: go list found nothing", pkg)
	}
	slices.SortFunc(linked.Modules, func(a, b LinkedModule) int { return strings.Compare(a.Path, b.Path) })
	return linked, nil
}
