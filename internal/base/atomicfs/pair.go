package atomicfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A folder D and D.winbake beside it change as one. Both are made in one folder
// beside them, which a rename to nextName then decides upon: from there on they
// are what counts, and anyone who comes first puts them in place. Readers that find
// such a folder take what is still in it.
//
// What waits there to be put in place has the sticky bit, and loses it when both
// are: a folder swaps with the old one, so its name doesn't tell. On Windows, which
// has no such bit, no folder swaps.
const pendingBit = fs.ModeSticky

// The folders in nextName.
const (
	NextTree   = "payload"
	NextBeside = "winbake"
)

// nextName is the folder that decides what dir and dir.winbake will be. No
// tempName begins like that.
func nextName(dir string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".winbake.next")
}

// Beside is the folder beside dir for what isn't the payload.
func Beside(dir string) string { return dir + ".winbake" }

// places are the folders in nextName with their places.
func places(dir string) map[string]string {
	next := nextName(dir)
	return map[string]string{filepath.Join(next, NextTree): dir, filepath.Join(next, NextBeside): Beside(dir)}
}

func isPending(staged string) bool {
	info, err := os.Lstat(staged)
	return err == nil && (info.Mode()&pendingBit != 0 || onWindows)
}

// Current returns where the two folders of dir are, which may be a link.
func Current(dir string) (tree, extras string) {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, err := filepath.EvalSymlinks(dir); err == nil {
			dir = target
		}
	}
	tree, extras = dir, Beside(dir)
	for staged, place := range places(dir) {
		switch {
		case !isPending(staged):
		case place == dir:
			tree = staged
		default:
			extras = staged
		}
	}
	return tree, extras
}

// BeginPair makes the folder that a run writes into, locked, where dir may be
// replaced.
func BeginPair(ctx context.Context, dir string, mayReplace func(dir string) error) (temp string, unlock func() error, err error) {
	done, err := LockDir(ctx, filepath.Dir(dir))
	if err != nil {
		return "", nil, err
	}
	defer done() //nolint:errcheck // closes a folder opened to be locked
	err = finishPair(dir)
	if err == nil {
		err = mayReplace(dir)
	}
	if err == nil {
		err = RemoveLeftovers(dir, os.DirEntry.IsDir)
	}
	if err != nil {
		return "", nil, err
	}
	if temp, err = os.MkdirTemp(filepath.Dir(dir), tempName(dir)); err != nil {
		return "", nil, err
	}
	unlock, err = LockDir(ctx, temp)
	return temp, unlock, err
}

// ReplacePair puts temp/payload and temp/winbake in the place of dir and what is
// beside it. One run at a time does that.
func ReplacePair(ctx context.Context, temp, dir string, mayReplace func(dir string) error) error {
	unlock, err := LockDir(ctx, filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	if err := finishPair(dir); err != nil {
		return err
	}
	if err := mayReplace(dir); err != nil { // as it is now
		return err
	}
	for _, name := range []string{NextTree, NextBeside} {
		if err := os.Chmod(filepath.Join(temp, name), 0o755|pendingBit); err != nil {
			return err
		}
	}
	if err := errors.Join(SyncDir(temp), os.Rename(temp, nextName(dir)), SyncDir(filepath.Dir(dir))); err != nil {
		return err
	}
	return finishPair(dir)
}

// finishPair does what is left to do of what was decided.
func finishPair(dir string) error {
	next := nextName(dir)
	if _, err := os.Lstat(next); os.IsNotExist(err) {
		return nil
	}
	for staged, place := range places(dir) {
		if !isPending(staged) {
			continue
		}
		if err := unmark(place); err != nil { // the old one, as if it were not yet
			return err
		}
		if err := ReplaceDir(staged, place); err != nil {
			return err
		}
	}
	if err := errors.Join(SyncDir(filepath.Dir(dir)), unmark(dir), unmark(Beside(dir))); err != nil {
		return err
	}
	_ = os.Remove(Beside(dir)) // only if it is empty
	return os.RemoveAll(next)
}

func unmark(dir string) error {
	info, err := os.Lstat(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil || info.Mode()&pendingBit == 0 {
		return err
	}
	return os.Chmod(dir, info.Mode().Perm())
}

// replaceDirInSteps is for systems that can't exchange two folders at once. A
// kill between its steps leaves dir missing and both payloads beside it.
func replaceDirInSteps(temp, dir string) error {
	old := temp + "-old"
	if err := os.Rename(dir, old); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}
