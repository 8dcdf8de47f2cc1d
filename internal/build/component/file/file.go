// Package file is the kind of component that is a file beside versions.yaml,
// pinned by sha256.
package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
)

// Kind is a component.File.
type Kind struct{}

// Lock says that the file is the pinned one.
func (k Kind) Lock(_ context.Context, _ *source.Env, p source.Pin) (*source.Result, error) {
	return &source.Result{Locked: &pins.Locked{SHA256: p.SHA256}}, k.Check(p)
}

// Versions are none.
func (Kind) Versions(context.Context, *source.Env, source.Pin) (string, []string, error) {
	return "", nil, source.NoVersions("a local file has no versions")
}

// Key is the file's sum.
func (Kind) Key(p source.Pin) string { return "sha256:" + p.SHA256 }

// Open opens the file. Without allow-outside it is below the folder of
// versions.yaml, whatever links are on the way: a pin that somebody else wrote
// reads no other file of this machine.
func (Kind) Open(_ context.Context, _ *source.Env, p source.Pin) (io.ReadCloser, error) {
	where := path(p)
	in, err := open(p)
	switch {
	case err == nil:
		return in, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Where: where, What: "no such file", Fix: "a component's file is relative to versions.yaml; check its path", Err: err}
	case strings.Contains(err.Error(), "path escapes"): // of os.Root, which names it by no value
		return nil, &fault.Error{Where: where, What: fmt.Sprintf("the file of component %s is outside the folder of versions.yaml", p.Name),
			Fix: "copy it into the folder, or write allow-outside: true beside file:", Err: err}
	}
	return nil, &fault.Error{Where: where, What: "the file can't be read: " + infile.Cause(err), Fix: "ls -l " + shell.Word(where), Err: err}
}

func open(p source.Pin) (*os.File, error) {
	if p.AllowOutside {
		return infile.Open(path(p))
	}
	root, err := os.OpenRoot(p.File.Dir())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	info, err := root.Stat(p.Component.File)
	if err == nil {
		err = infile.Check(info)
	}
	if err != nil {
		return nil, err
	}
	return root.Open(p.Component.File)
}

func path(p source.Pin) string {
	return filepath.Join(p.File.Dir(), filepath.FromSlash(p.Component.File))
}

// Check compares the file with its pin.
func (k Kind) Check(p source.Pin) error {
	in, err := k.Open(context.Background(), nil, p)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return fmt.Errorf("read %s: %w", path(p), err)
	}
	return k.Compare(p, hex.EncodeToString(h.Sum(nil)))
}

// Compare compares what was read with the pin. What a file outside the folder
// of versions.yaml has for a sum isn't printed: it tells of a content that the
// reader of a log may not see.
func (Kind) Compare(p source.Pin, got string) error {
	switch {
	case got == p.SHA256:
		return nil
	case p.AllowOutside:
		return &fault.Error{Where: path(p), What: fmt.Sprintf("the file's sha256 isn't %s, which component %s pins", p.SHA256, p.Name),
			Fix: fmt.Sprintf("take the file back, or pin what it is now: bake pin %s@SUM, with SUM from: sha256sum %s", p.Name, shell.Word(path(p)))}
	}
	return &fault.Error{Where: path(p), What: fmt.Sprintf("the file's sha256 is %s, component %s pins %s", got, p.Name, p.SHA256),
		Fix: fmt.Sprintf("take the file back, or pin what it is now: bake pin %s@%s", p.Name, got)}
}
