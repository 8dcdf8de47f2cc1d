// Package file reads local files that are pinned by sha256.
package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/shell"
)

// Open opens the file of component c of f. Without allow-outside it is below
// the folder of versions.yaml, whatever links are on the way: a pin that
// somebody else wrote reads no other file of this machine.
func Open(f *pins.File, c *pins.Component) (*os.File, error) {
	where := Path(f, c)
	in, err := open(f, c)
	switch {
	case err == nil:
		return in, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Where: where, What: "no such file", Fix: "a component's file is relative to versions.yaml; check its path", Err: err}
	case strings.Contains(err.Error(), "path escapes"): // of os.Root, which names it by no value
		return nil, &fault.Error{Where: where, What: fmt.Sprintf("the file of component %s is outside the folder of versions.yaml", c.Name),
			Fix: "copy it into the folder, or write allow-outside: true beside file:", Err: err}
	}
	return nil, &fault.Error{Where: where, What: "the file can't be read: " + cause(err), Fix: "ls -l " + shell.Word(where), Err: err}
}

func open(f *pins.File, c *pins.Component) (*os.File, error) {
	if c.AllowOutside {
		return infile.Open(Path(f, c))
	}
	root, err := os.OpenRoot(f.Dir())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	info, err := root.Stat(c.File)
	if err == nil {
		err = infile.Check(info)
	}
	if err != nil {
		return nil, err
	}
	return root.Open(c.File)
}

func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// Path is where the file of component c is.
func Path(f *pins.File, c *pins.Component) string {
	return filepath.Join(f.Dir(), filepath.FromSlash(c.File))
}

// Check compares the file of component c with its pin.
func Check(f *pins.File, c *pins.Component) error {
	in, err := Open(f, c)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return fmt.Errorf("read %s: %w", Path(f, c), err)
	}
	return Compare(f, c, hex.EncodeToString(h.Sum(nil)))
}

// Compare compares got, the sha256 of the file of component c, with its pin.
// What a file outside the folder of versions.yaml has for a sum isn't printed:
// it tells of a content that the reader of a log may not see.
func Compare(f *pins.File, c *pins.Component, got string) error {
	switch {
	case got == c.SHA256:
		return nil
	case c.AllowOutside:
		return &fault.Error{Where: Path(f, c), What: fmt.Sprintf("the file's sha256 isn't %s, which component %s pins", c.SHA256, c.Name),
			Fix: fmt.Sprintf("take the file back, or pin what it is now: bake pin %s@SUM, with SUM from: sha256sum %s", c.Name, shell.Word(Path(f, c)))}
	}
	return &fault.Error{Where: Path(f, c), What: fmt.Sprintf("the file's sha256 is %s, component %s pins %s", got, c.Name, c.SHA256),
		Fix: fmt.Sprintf("take the file back, or pin what it is now: bake pin %s@%s", c.Name, got)}
}
