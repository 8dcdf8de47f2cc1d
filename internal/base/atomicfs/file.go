// Package atomicfs writes outputs so that what was there stays, whole, until the
// new is complete: a file or a folder, and the rules for where an output goes.
//
// It isn't for what is in them.
package atomicfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// PutFile puts a file in place as a whole: anyone who opens name finds what was
// there before or what fill wrote, also after a crash. The mode of a file that is
// replaced stays.
func PutFile(name string, fill func(io.Writer) error) (err error) {
	dir, remove, err := TempDir(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	f, err := os.Create(filepath.Join(dir, filepath.Base(name)))
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	if err = fill(f); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(name))
}

// WriteFile is PutFile of data.
func WriteFile(name string, data []byte) error {
	return PutFile(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// SyncDir makes a rename in dir last through a crash. Windows and some network and
// FUSE file systems can't sync a folder, and say so.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// ReplaceDir puts temp in the place of dir, where the system and the file system
// can do so in one step. What was there may be at temp afterwards.
func ReplaceDir(temp, dir string) error {
	if err := exchange(temp, dir); err == nil {
		return nil
	}
	return replaceDirInSteps(temp, dir)
}

// replaceDirInSteps is for systems that can't exchange two folders at once. A
// kill between its steps leaves dir missing and both folders beside it.
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
