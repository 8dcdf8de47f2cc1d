// Package testproxy makes Go modules out of text and serves them as a file
// system proxy (https://go.dev/ref/mod#serving-from-proxy), for tests that
// need a module proxy which they control.
package testproxy

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
	"golang.org/x/tools/txtar"
)

// Told is what a proxy says of every version, and what no sum covers.
type Told struct {
	Time   string // RFC 3339; "" for one
	Commit string // "" where the proxy doesn't tell
}

// Write serves every module of an archive below dir. A file's name is
// path@version/file; each module needs a go.mod.
func Write(dir string, archive *txtar.Archive, told Told) error {
	modules := map[module.Version][]zip.File{}
	for _, f := range archive.Files {
		path, rest, ok := strings.Cut(f.Name, "@")
		version, name, ok2 := strings.Cut(rest, "/")
		if !ok || !ok2 {
			return fmt.Errorf("%s isn't path@version/file", f.Name)
		}
		id := module.Version{Path: path, Version: version}
		modules[id] = append(modules[id], file{name, f.Data})
	}
	for id, files := range modules {
		if err := add(dir, id, files, told); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return nil
}

// WriteFolder serves a module whose files are below root, named with slashes.
func WriteFolder(dir string, id module.Version, root string, names []string) error {
	var files []zip.File
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		files = append(files, file{name, data})
	}
	return add(dir, id, files, Told{})
}

func add(dir string, id module.Version, files []zip.File, told Told) error {
	escaped, err := module.EscapePath(id.Path)
	if err != nil {
		return err
	}
	base := filepath.Join(dir, escaped, "@v")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, id, files); err != nil {
		return err
	}
	var gomod []byte
	for _, f := range files {
		if f.Path() == "go.mod" {
			gomod = f.(file).data
		}
	}
	list, err := os.OpenFile(filepath.Join(base, "list"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer list.Close()
	if _, err := fmt.Fprintln(list, id.Version); err != nil {
		return err
	}
	for suffix, data := range map[string][]byte{".info": told.info(id), ".mod": gomod, ".zip": archive.Bytes()} {
		if err := os.WriteFile(filepath.Join(base, id.Version+suffix), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// info is what a proxy says of a version
// (https://go.dev/ref/mod#goproxy-protocol).
func (t Told) info(id module.Version) []byte {
	info := fmt.Sprintf(`{"Version":%q,"Time":%q`, id.Version, cmp.Or(t.Time, "2025-01-02T03:04:05Z"))
	if t.Commit != "" {
		info += fmt.Sprintf(`,"Origin":{"VCS":"git","URL":"https://%s","Hash":%q,"Ref":"refs/tags/%s"}`, id.Path, t.Commit, id.Version)
	}
	return []byte(info + "}")
}

// file is a zip.File in memory.
type file struct {
	name string
	data []byte
}

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (os.FileInfo, error)  { return info(f), nil }
func (f file) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.data)), nil }

type info file

func (i info) Name() string       { return filepath.Base(i.name) }
func (i info) Size() int64        { return int64(len(i.data)) }
func (i info) Mode() os.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
