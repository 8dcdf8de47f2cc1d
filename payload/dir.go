package payload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/stream"
)

// DirOptions says how WriteDir writes.
type DirOptions struct {
	// Store keeps the members of an archived payload. A flat one needs none.
	Store Store
	// Extras are the files of the folder beside it, dir.winbake: what an image
	// has in ExtrasRoot. Without any there is no such folder.
	Extras []File
	// Progress counts the bytes of the payload's files, before compression. May
	// be nil.
	Progress func(done, total int64)
}

// WriteDir makes dir the payload: dir/csi-proxy/csi-proxy.exe, in the tree's
// format. Owner and times are the caller's; modes are those of an image's
// payload, whatever the umask.
//
// Payload and extras are made beside dir and then take their places, the extras
// first: a killed run leaves each of the two whole, the old one or the new one, and a
// folder .NAME.winbake-* that the next run removes. Two runs end as one of them. A
// link is followed.
//
// A folder that isn't empty is replaced only when it can't be anything but a
// payload that WriteDir wrote: nothing in it but plain files and folders with
// a payload's modes, and an empty generated/ that everybody may write to.
// Anything else is refused, with an error that wraps ErrForeign. The files of
// t.Kept aren't at hand, so they aren't part of it.
func WriteDir(ctx context.Context, dir string, t *Tree, o DirOptions) error {
	t = &Tree{Format: t.Format, Files: t.Files}
	if err := t.Check(); err != nil {
		return err
	}
	if t.Format == Archived && o.Store == nil {
		return errors.New("an archived payload is written with a Store for its members")
	}
	extras := &Tree{Format: Flat, Files: o.Extras, extras: true}
	if len(o.Extras) > 0 {
		if err := extras.Check(); err != nil {
			return err
		}
	}
	dir, err := atomicfs.Target(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return atomicfs.CantWrite(dir, err)
	}
	if err := buildDir(ctx, dir, t, extras, o); err != nil {
		return atomicfs.CantWrite(dir, err)
	}
	return nil
}

// ExtrasDir is the folder beside a payload's, with what an image has in ExtrasRoot.
// A link is followed.
func ExtrasDir(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return dir + "." + ExtrasRoot
}

// buildDir writes both folders into a locked one beside dir.
func buildDir(ctx context.Context, dir string, t, extras *Tree, o DirOptions) (err error) {
	if err := checkReplaceable(dir); err != nil {
		return err
	}
	if err := atomicfs.RemoveLeftovers(dir); err != nil {
		return err
	}
	temp, remove, err := atomicfs.TempDir(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	p := &packer{tree: t, store: o.Store, meter: stream.NewMeter(o.Progress, t.Size())}
	if err := p.fillDir(ctx, filepath.Join(temp, Root)); err != nil {
		return err
	}
	if len(extras.Files) > 0 {
		if err := (&packer{tree: extras, meter: stream.NewMeter(nil, 0)}).fillDir(ctx, filepath.Join(temp, ExtrasRoot)); err != nil {
			return err
		}
	}
	return replaceBoth(ctx, temp, dir, len(extras.Files) > 0)
}

// replaceBoth puts what is in temp in the place of dir and of the folder beside it.
// One run at a time does that.
func replaceBoth(ctx context.Context, temp, dir string, extras bool) error {
	unlock, err := atomicfs.LockDir(ctx, filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer unlock()                                //nolint:errcheck // closes a folder opened to be locked
	if err := checkReplaceable(dir); err != nil { // as it is now
		return err
	}
	if extras {
		err = atomicfs.ReplaceDir(filepath.Join(temp, ExtrasRoot), ExtrasDir(dir))
	} else if err = os.Rename(ExtrasDir(dir), filepath.Join(temp, ExtrasRoot)); os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		return err
	}
	if err := atomicfs.ReplaceDir(filepath.Join(temp, Root), dir); err != nil {
		return err
	}
	return atomicfs.SyncDir(filepath.Dir(dir))
}

func (p *packer) fillDir(ctx context.Context, dir string) error {
	contents, err := p.contents(ctx)
	if err != nil {
		return err
	}
	buf := make([]byte, stream.BufferSize)
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

func makeDir(name string, mode fs.FileMode) error {
	if err := os.MkdirAll(name, dirMode); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}

func writePlain(ctx context.Context, name string, e entry, buf []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	if err = stream.Copy(ctx, f, e.open, buf); err == nil {
		err = f.Chmod(fs.FileMode(e.mode))
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// CheckDir tells whether WriteDir can write to dir, before there is anything to
// write. It changes nothing.
func CheckDir(dir string) error {
	target, err := atomicfs.Target(dir)
	if err == nil {
		err = checkReplaceable(target)
	}
	if err == nil {
		err = atomicfs.CheckWritable(target, filepath.Dir(target))
	}
	return err
}

// checkReplaceable refuses to replace what may be somebody's work.
func checkReplaceable(dir string) error {
	entries, err := os.ReadDir(ExtrasDir(dir))
	if err != nil && !os.IsNotExist(err) {
		return atomicfs.CantWrite(dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(ExtraNames, e.Name()) {
			return atomicfs.Foreign(ExtrasDir(dir), "holds something that wasn't written here: "+e.Name())
		}
	}
	entries, err = os.ReadDir(dir)
	if os.IsNotExist(err) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return atomicfs.CantWrite(dir, err)
	}
	what, err := notPayload(dir)
	if err != nil {
		return atomicfs.CantWrite(dir, err)
	}
	if what == "" {
		return nil
	}
	return atomicfs.Foreign(dir, "isn't a payload that was written here: "+what)
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
