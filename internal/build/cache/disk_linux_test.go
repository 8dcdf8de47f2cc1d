package cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a disk of 4 MiB. Only root may mount one, and in a container not
// even root.
func smallDisk(t *testing.T) (dir string, mounted bool) {
	t.Helper()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Logf("no disk of 4 MiB: %v", err)
		return "", false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Errorf("unmount %s: %v", disk, err)
		}
	})
	return filepath.Join(disk, "cache"), true
}

// The next test needs root; this one runs everywhere: /dev/full is a full disk.
func TestNoSpaceForContent(t *testing.T) {
	s := newStore(t)
	w, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort() //nolint:errcheck // of a test
	file := w.file
	defer file.Close()
	if w.file, err = os.OpenFile("/dev/full", os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	_, err = w.Write([]byte{1})
	wantFault(t, err, s.dir, "no space left", "make room", "--cache-dir")
}

func TestFullDisk(t *testing.T) {
	dir, mounted := smallDisk(t)
	if !mounted {
		return // TestNoSpaceForContent is all that can be had
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := put(t, s, "small")
	_, _, err = s.Put(t.Context(), bytes.NewReader(make([]byte, 8<<20)))
	wantFault(t, err, s.dir, "no space left", "make room")
	noTemp(t, s)
	for i := 0; err == nil || i == 0; i++ {
		_, _, err = s.Put(t.Context(), bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 64<<10)))
	}
	wantFault(t, err, s.dir, "no space left")
	wantFault(t, s.PutAction(sumOf("a"), strings.Repeat("x", 1<<20)), s.dir, "no space left")
	if got := recorded(s, "a"); got != "" {
		t.Errorf("a record of %d bytes", len(got))
	}
	if got, err := get(s, d); err != nil || got != "small" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadOnly(t *testing.T) {
	dir, cause := filepath.Join(t.TempDir(), "cache"), error(syscall.EACCES)
	protect := func() error {
		return errors.Join(os.Chmod(filepath.Join(dir, "tmp"), 0o500), os.Chmod(dir, 0o500))
	}
	if os.Geteuid() == 0 { // whom modes don't stop
		small, mounted := smallDisk(t)
		if !mounted {
			return
		}
		dir, cause = small, syscall.EROFS
		protect = func() error {
			return unix.Mount("", filepath.Dir(small), "", unix.MS_REMOUNT|unix.MS_RDONLY, "size=4m")
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := put(t, s, "hello")
	if err := errors.Join(s.PutAction(sumOf("a"), "b"), protect()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(os.Chmod(dir, 0o700), os.Chmod(filepath.Join(dir, "tmp"), 0o700)) })
	_, _, err = s.Put(t.Context(), strings.NewReader("more"))
	if wantFault(t, err, s.dir, "--cache-dir"); !errors.Is(err, cause) {
		t.Error(err)
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatalf("it can't be read: %v", err)
	}
	if got, err := get(again, d); err != nil || got != "hello" || recorded(again, "a") != "b" {
		t.Errorf("it can't be read: %q, %v", got, err)
	}
}
