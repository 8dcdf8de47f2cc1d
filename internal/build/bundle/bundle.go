// Package bundle packs the sources of programs, and the toolchain that compiles them, into
// one tar file, from which a machine without a network builds the same bytes: a tree as a
// module proxy serves it (https://go.dev/ref/mod#goproxy-protocol), bare git repositories,
// and the base image as an OCI layout.
//
// It proves nothing: a build holds each source to the lock, wherever it came from.
package bundle

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/component"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/build/source/gomod"
)

// Folders of a bundle. Base is an OCI layout, where the pins have a base.
const (
	proxy = "proxy"
	git   = "git"
	Base  = "base"
	end   = "end" // the last entry, an empty file: a bundle that was cut doesn't have it
)

// Write fetches the sources of jobs and writes them to w. base is the folder of the base's
// OCI layout, "" for none.
func Write(ctx context.Context, b *compile.Builder, jobs []*compile.Job, base string, w io.Writer) error {
	out := &writer{tar.NewWriter(w), map[string]bool{}}
	env := &source.Env{Host: b.Host, Git: b.Git, Events: b.Events}
	for _, job := range jobs {
		b.Events.Emit(event.Event{Object: job.Component.Name, Phase: event.Fetch, State: event.Start})
		if err := out.sources(ctx, env, job); err != nil {
			return err
		}
		b.Events.Emit(event.Event{Object: job.Component.Name, Phase: event.Fetch, State: event.Done})
	}
	if base != "" {
		if err := out.folder(base, Base); err != nil {
			return err
		}
	}
	if err := out.tar.WriteHeader(&tar.Header{Name: end, Mode: 0o644}); err != nil {
		return err
	}
	return out.tar.Close()
}

type writer struct {
	tar  *tar.Writer
	have map[string]bool
}

func (w *writer) sources(ctx context.Context, env *source.Env, job *compile.Job) error {
	c := job.Component
	if c.Git != "" {
		commit, err := env.Git.Fetch(ctx, c.Git, c.Commit)
		if err != nil {
			return err
		}
		if c.Submodules {
			return &fault.Error{Where: c.Name, What: "its submodules aren't in a bundle", Fix: "pin the submodules' files as components of their own, or build with a network"}
		}
		if err := w.folder(commit.Repository(), path.Join(git, filepath.Base(commit.Repository()))); err != nil {
			return err
		}
	}
	kind, program := component.Of(c).(component.Program)
	if !program {
		return nil
	}
	dir, err := os.MkdirTemp("", "winbake-bundle-")
	if err != nil {
		return fmt.Errorf("make a folder for the sources: %w", err)
	}
	defer os.RemoveAll(dir)
	tool := env.Host.Tool(c.Toolchain(job.File))
	if tool.Toolchain != gotool.Local {
		if m, err := gomod.DownloadToolchain(ctx, tool); err != nil {
			env.Events.Emit(event.Event{Object: c.Name, Phase: event.Fetch, State: event.Warning,
				Message: "the bundle doesn't have " + tool.Toolchain + ", so it is for machines that have that Go: " + fault.FirstLine(err)})
		} else if err := w.module(tool, m.Path, m.Version, "info", "mod", "zip"); err != nil {
			return err
		}
	}
	pin := source.Pin{File: job.File, Component: c, Locked: job.Locked}
	workspace, err := kind.Workspace(ctx, env, pin, dir)
	if err != nil {
		return err
	}
	if _, err := gomod.List(ctx, workspace.Query(tool, c)); err != nil { // it downloads what a build needs
		return &fault.Error{Where: c.Name, What: "its sources can't be loaded", Excerpt: err.Error(), Err: err, Fix: "check the network and GOPROXY (go env GOPROXY)"}
	}
	for line := range strings.Lines(string(workspace.GoSum)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		if version, isMod := strings.CutSuffix(fields[1], "/go.mod"); isMod {
			err = w.module(tool, fields[0], version, "info", "mod")
		} else {
			err = w.module(tool, fields[0], version, "zip")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// module adds what the module cache has of a version: go.sum names more than a build needs.
func (w *writer) module(tool *gotool.Tool, name, version string, kinds ...string) error {
	name, err := module.EscapePath(name)
	if err != nil {
		return err
	}
	if version, err = module.EscapeVersion(version); err != nil {
		return err
	}
	for _, kind := range kinds {
		file := name + "/@v/" + version + "." + kind
		err := w.file(filepath.Join(tool.Setting("GOMODCACHE"), "cache", "download", filepath.FromSlash(file)), path.Join(proxy, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *writer) folder(dir, name string) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, file)
		if err = errors.Join(err, relErr); err != nil || !e.Type().IsRegular() {
			return err
		}
		return w.file(file, path.Join(name, filepath.ToSlash(rel)))
	})
}

func (w *writer) file(from, name string) error {
	if w.have[name] {
		return nil
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w.have[name] = true
	if err := w.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: info.Size(), ModTime: time.Unix(0, 0)}); err != nil {
		return err
	}
	_, err = io.Copy(w.tar, f)
	return err
}

// Open unpacks a bundle into a folder below cache, once for each content, and has host take
// modules from it and from nowhere else. It returns the folder and its git repositories.
// Sums come from the lock: no checksum database is asked.
func Open(file, cache string, host *gotool.Host) (dir string, repositories *gitsrc.Cache, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", nil, &fault.Error{Where: file, What: "the bundle can't be read", Excerpt: err.Error(), Err: err, Fix: "where the network is: bake bundle --out " + shell.Word(file)}
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", nil, &fault.Error{Where: file, What: "the bundle can't be read", Excerpt: err.Error(), Err: err, Fix: "copy it again"}
	}
	dir = filepath.Join(cache, hex.EncodeToString(sum.Sum(nil)[:16]))
	if _, err := os.Stat(dir); err != nil {
		if err := unpack(f, dir); err != nil {
			return "", nil, &fault.Error{Where: file, What: "it is no whole bundle", Excerpt: err.Error(), Err: err, Fix: "copy it again, or make it again where the network is: bake bundle --out " + shell.Word(file)}
		}
	}
	address := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Join(dir, proxy)), "/")}
	host.Override(map[string]string{"GOPROXY": address.String(), "GOSUMDB": "off", "GONOPROXY": "none", "GONOSUMDB": "", "GOPRIVATE": ""})
	return dir, gitsrc.NewCache(filepath.Join(dir, git)), nil
}

func unpack(f io.ReadSeeker, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "unpack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only its files are written
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("it ends early")
		}
		if err != nil {
			return err
		}
		if h.Name == end {
			break
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%s is no file", h.Name)
		}
		if err := root.MkdirAll(path.Dir(h.Name), 0o700); err != nil {
			return err
		}
		to, err := root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, r)
		if err = errors.Join(err, to.Close()); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
