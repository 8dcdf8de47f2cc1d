package cas

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

// wantFault checks that err tells a person which folder, and what to do.
func wantFault(t *testing.T, s *Store, err error, cause error, fixes ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Where != s.Dir() || !errors.Is(err, cause) {
		t.Fatalf("not the fault: %v", err)
	}
	for _, fix := range fixes {
		if !strings.Contains(f.Fix, fix) {
			t.Errorf("%q isn't the fix: %v", fix, err)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// The next test needs root; this one runs everywhere.
func TestNoSpaceFromWriter(t *testing.T) {
	for _, size := range []int{1, 3 * bufferSize} { // fails on Commit, on Write
		s := newStore(t)
		w, err := s.Create()
		if err != nil {
			t.Fatal(err)
		}
		w.out = bufio.NewWriterSize(fullDisk{}, bufferSize)
		_, err = w.Write(bytes.Repeat([]byte{1}, size))
		if err == nil {
			_, _, err = w.Commit()
		} else if err := w.Abort(); err != nil {
			t.Error(err)
		}
		wantFault(t, s, err, syscall.ENOSPC, "bake cache gc", "--cache-dir")
		noTemp(t, s)
	}
}

func TestFullDisk(t *testing.T) {
	s, mounted := onSmallDisk(t)
	if !mounted {
		return // TestNoSpaceFromWriter is all that can be had
	}
	d := put(t, s, "small")
	_, _, err := s.Put(t.Context(), bytes.NewReader(make([]byte, 2<<20)))
	wantFault(t, s, err, syscall.ENOSPC, "bake cache gc", "--cache-dir")
	noTemp(t, s)
	fill(t, s)
	err = s.PutAction(helloDigest, strings.Repeat("x", 100_000))
	wantFault(t, s, err, syscall.ENOSPC, "bake cache gc", "--cache-dir")
	noTemp(t, s)
	if got := files(t, s.actions()); len(got) > 0 {
		t.Errorf("actions: %v", got)
	}
	if err := s.Verify(d); err != nil {
		t.Error(err)
	}
	gc(t, s, GCOptions{})
}

// fill leaves less than 64 KiB of room.
func fill(t *testing.T, s *Store) {
	t.Helper()
	for i := 0; ; i++ {
		_, _, err := s.Put(t.Context(), bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 64<<10)))
		if err != nil {
			wantFault(t, s, err, syscall.ENOSPC)
			return
		}
	}
}

func TestReadOnlyStore(t *testing.T) {
	s := newStore(t)
	cause := error(syscall.EACCES)
	protect := func() { chmodAll(t, s.Dir(), 0o555) }
	if os.Geteuid() == 0 { // whom modes don't stop
		small, mounted := onSmallDisk(t)
		if !mounted {
			return
		}
		s, cause, protect = small, syscall.EROFS, func() { makeReadOnly(t, small.Dir()) }
	}
	d := put(t, s, "hello")
	putAction(t, s, "a", d)
	protect()
	_, _, putErr := s.Put(t.Context(), strings.NewReader("more"))
	_, _, tempErr := s.TempDir("build-")
	for _, err := range []error{putErr, tempErr, s.PutAction(helloDigest, 1)} {
		wantFault(t, s, err, cause, "--cache-dir")
	}
	again, err := Open(s.Dir())
	if err != nil {
		t.Fatalf("it can't be read: %v", err)
	}
	if err := again.Verify(d); err != nil || !has(t, again, "a") {
		t.Errorf("it can't be read: %v", err)
	}
	if _, err := Open(s.Dir() + "/new"); err == nil {
		t.Error("made a store in a read-only folder")
	} else {
		wantFault(t, &Store{dir: s.Dir() + "/new"}, err, cause, "--cache-dir")
	}
}

func chmodAll(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	for _, d := range []string{dir + "/tmp", dir + "/blobs", dir + "/actions", dir} {
		if err := os.Chmod(d, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Error(err)
			}
		})
	}
}
