package cas

import (
	"testing"

	"golang.org/x/sys/unix"
)

// onSmallDisk makes a store on a disk of 1 MiB. Only root may mount one, and
// in a container not even root.
func onSmallDisk(t *testing.T) (s *Store, mounted bool) {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Logf("no disk of 1 MiB: %v", err)
		return nil, false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, true
}

func makeReadOnly(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "size=1m"); err != nil {
		t.Fatal(err)
	}
}
