package payload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/fault"
)

// DirOptions says how WriteDir writes.
type DirOptions struct {
	// Store keeps the members of an archived payload; nil compresses them
	// each time.
	Store Store
	// Progress counts the bytes of the files, before compression. May be nil.
	Progress Progress
}

// WriteDir makes dir the payload: dir/csi-proxy/csi-proxy.exe, in the tree's
// format. Owner and times are the caller's; modes are those of an image's
// payload, whatever the umask.
//
// The payload is made beside dir and then takes its place at once, on Linux in
// one step: a killed run leaves the old payload or the new one, and a folder
// .NAME.winbake-* that the next run removes.
//
// A folder that isn't empty is replaced only when it can't be anything but a
// payload that WriteDir wrote: nothing in it but plain files and folders with
// a payload's modes, and an empty generated/ that everybody may write to.
// Anything else is refused. The files of t.Kept aren't at hand, so they aren't
// part of it.
func WriteDir(ctx context.Context, dir string, t *Tree, o DirOptions) error {
	t = &Tree{Format: t.Format, Files: t.Files}
	if err := t.Check(); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return cantWrite(dir, err)
	}
	if err := checkReplaceable(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return cantWrite(dir, err)
	}
	if err := removeLeftovers(dir, os.DirEntry.IsDir); err != nil {
		return cantWrite(dir, err)
	}
	if err := buildDir(ctx, dir, t, o); err != nil {
		return cantWrite(dir, err)
	}
	return nil
}

// buildDir writes the payload into a locked folder beside dir and swaps.
func buildDir(ctx context.Context, dir string, t *Tree, o DirOptions) (err error) {
	temp, err := os.MkdirTemp(filepath.Dir(dir), tempName(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	unlock, err := lockDir(ctx, temp)
	if err != nil {
		return err
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	p := &packer{tree: t, store: o.Store, meter: newMeter(o.Progress, t.Size())}
	if err := p.remaking(ctx, func() error { return p.fillDir(ctx, temp) }); err != nil {
		return err
	}
	if err := replaceDir(temp, dir); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// fillDir writes the folders and files of the tree's format.
func (p *packer) fillDir(ctx context.Context, dir string) error {
	contents, err := p.dirContents(ctx)
	if err != nil {
		return err
	}
	buf := make([]byte, copyBuffer)
	for _, e := range arrange(p.tree, contents, nil) {
		name := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(e.name, p.tree.root())))
		if e.open == nil {
			err = makeDir(name, fs.FileMode(e.mode))
		} else {
			err = writePlain(ctx, name, e, buf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dirContents is contents without a store: members then have no size before
// they are written.
func (p *packer) dirContents(ctx context.Context) ([]content, error) {
	if p.store != nil || p.tree.Format == Flat {
		return p.contents(ctx)
	}
	out := []content{p.sums()}
	for _, f := range p.tree.Sorted() {
		out = append(out, content{path: f.Path + ArchiveSuffix, open: func() (io.ReadCloser, error) {
			pr, pw := io.Pipe()
			go func() { pw.CloseWithError(writeMember(ctx, pw, f, allBlocks(), p.meter)) }()
			return pr, nil
		}})
	}
	return out, nil
}

func makeDir(name string, mode fs.FileMode) error {
	if err := os.MkdirAll(name, dirMode); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}

func writePlain(ctx context.Context, name string, e entry, buf []byte) (err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if err := copyContent(ctx, f, e.open, buf); err != nil {
		return err
	}
	if err := f.Chmod(fs.FileMode(e.mode)); err != nil {
		return err
	}
	return f.Sync()
}

// checkReplaceable refuses to replace what may be somebody's work.
func checkReplaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return cantWrite(dir, err)
	}
	what, err := notPayload(dir)
	if err != nil {
		return cantWrite(dir, err)
	}
	if what == "" {
		return nil
	}
	return &fault.Error{
		What:  "the folder isn't empty and isn't a payload that was written here: " + what,
		Where: dir, Fix: "give another folder, or remove this one: rm -r " + dir,
	}
}

// notPayload names something that WriteDir doesn't write; empty when there is
// nothing of the kind.
func notPayload(dir string) (what string, err error) {
	generated := false
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case rel == GeneratedName:
			generated = info.Mode() == fs.ModeDir|generatedMode
		case info.Mode() == fs.ModeDir|dirMode, info.Mode() == fileMode && filepath.Dir(rel) != GeneratedName:
		default:
			what = fmt.Sprintf("%s has the mode %s", rel, info.Mode())
			return fs.SkipAll
		}
		return nil
	})
	if what == "" && !generated {
		what = "it has no " + GeneratedName + "/ of mode 0777"
	}
	return what, err
}
