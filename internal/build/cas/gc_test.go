package cas

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const day = 24 * time.Hour

// old stores a blob of size bytes with its action, unused for that long.
func old(t *testing.T, s *Store, name string, size int, unused time.Duration) Digest {
	t.Helper()
	d := put(t, s, strings.Repeat(name[:1], size))
	path, _ := s.actionPath(putAction(t, s, name, d))
	age(t, path, unused)
	age(t, s.Path(d), unused)
	return d
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func gc(t *testing.T, s *Store, o GCOptions) Freed {
	t.Helper()
	freed, err := s.GC(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return freed
}

func TestGCBounds(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts GCOptions
		want string // of a (3 h), b (2 d), c (4 d) and d (6 d)
	}{
		{"none", GCOptions{}, "abcd"},
		{"age", GCOptions{MaxAge: 3 * day}, "ab"},
		{"no age at all", GCOptions{MaxAge: time.Nanosecond}, ""},
		{"bytes", GCOptions{MaxBytes: 35_000}, "abc"},
		{"few bytes", GCOptions{MaxBytes: 15_000}, "a"},
		{"many bytes", GCOptions{MaxBytes: 1 << 30}, "abcd"},
		{"both", GCOptions{MaxAge: 5 * day, MaxBytes: 25_000}, "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			unused := map[string]time.Duration{"a": 3 * time.Hour, "b": 2 * day, "c": 4 * day, "d": 6 * day}
			blobs := map[string]Digest{}
			for n, d := range unused {
				blobs[n] = old(t, s, n, 10_000, d)
			}
			freed := gc(t, s, tt.opts)
			for n, d := range blobs {
				key, _ := s.actionPath(sumOf([]byte(n)))
				if want := strings.Contains(tt.want, n); exists(key) != want || exists(s.Path(d)) != want {
					t.Errorf("%s: action %v, blob %v, want %v", n, exists(key), exists(s.Path(d)), want)
				}
			}
			gone := 4 - len(tt.want)
			if freed.Blobs != (Tally{gone, int64(gone) * 10_000}) || freed.Actions.Count != gone {
				t.Errorf("freed %+v", freed)
			}
		})
	}
}

func TestGCKeepsWhatWasUsedOfLate(t *testing.T) {
	s := newStore(t)
	d := old(t, s, "a", 100, 119*time.Minute)
	gc(t, s, GCOptions{MaxAge: time.Second, MaxBytes: 1})
	if !has(t, s, "a") || s.Verify(d) != nil {
		t.Error("a build may be about to read it")
	}
}

func TestGCSharedBlob(t *testing.T) {
	s := newStore(t)
	d := old(t, s, "a", 100, 9*day)
	path, _ := s.actionPath(putAction(t, s, "young", d))
	age(t, path, day)
	gc(t, s, GCOptions{MaxAge: 2 * day})
	if has(t, s, "a") || !has(t, s, "young") || s.Verify(d) != nil {
		t.Error("a blob goes with its last action, not with its first")
	}
}

func TestGCCountsASharedBlobOnce(t *testing.T) {
	s := newStore(t)
	d := old(t, s, "a", 10_000, 2*day)
	path, _ := s.actionPath(putAction(t, s, "b", d))
	age(t, path, day)
	gc(t, s, GCOptions{MaxBytes: 15_000})
	if !has(t, s, "a") || !has(t, s, "b") {
		t.Error("a blob was counted for each of its actions")
	}
}

func TestGCOrphans(t *testing.T) {
	s := newStore(t)
	young, orphan := put(t, s, "young"), put(t, s, "orphan")
	age(t, s.Path(orphan), 3*time.Hour)
	freed := gc(t, s, GCOptions{})
	if s.Verify(young) != nil || exists(s.Path(orphan)) {
		t.Errorf("blobs left: %v", files(t, s.blobs()))
	}
	if freed.Blobs != (Tally{1, int64(len("orphan"))}) || freed.Bytes() != int64(len("orphan")) {
		t.Errorf("freed %+v", freed)
	}
}

func TestGCDamagedAction(t *testing.T) {
	s := newStore(t)
	d := old(t, s, "a", 100, day)
	path, _ := s.actionPath(sumOf([]byte("a")))
	overwrite(t, path, damages["flip"])
	gc(t, s, GCOptions{})
	if exists(path) || exists(s.Path(d)) {
		t.Error("a damaged record keeps its blob")
	}
}

func TestGCTemp(t *testing.T) {
	s := newStore(t)
	dir, cleanup, err := s.TempDir("build-")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "out.exe"), 0o644)
	abandon(t, s)
	freed := gc(t, s, GCOptions{})
	if got := files(t, s.temp()); len(got) != 3 { // the lock, out.exe, the blob
		t.Errorf("tmp holds %v", got)
	}
	if freed.Temp.Count != 4 {
		t.Errorf("freed %+v", freed)
	}
	if _, _, err := w.Commit(); err != nil {
		t.Errorf("a live blob was taken away: %v", err)
	}
	if !exists(filepath.Join(dir, "out.exe")) {
		t.Error("a live folder was taken away")
	}
	cleanup()
	noTemp(t, s)
}

// abandon makes what killed processes leave.
func abandon(t *testing.T, s *Store) {
	t.Helper()
	write(t, filepath.Join(s.temp(), "blob-1"), 0o600)
	write(t, filepath.Join(s.temp(), "blob-2"), 0o444) // killed right before the rename
	if err := os.MkdirAll(filepath.Join(s.temp(), "build-1", "work", "mod"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.temp(), "build-1", tempLockName), 0o600)
	write(t, filepath.Join(s.temp(), "build-1", "work", "mod", "go.mod"), 0o444)
	if err := os.Chmod(filepath.Join(s.temp(), "build-1", "work", "mod"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.temp(), "build-2"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), mode); err != nil {
		t.Fatal(err)
	}
}

func TestTempDirCleansReadOnlyFolders(t *testing.T) {
	s := newStore(t)
	dir, cleanup, err := s.TempDir("build-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a", "b", "c"), 0o444)
	for _, d := range []string{"a/b", "a"} {
		if err := os.Chmod(filepath.Join(dir, d), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	cleanup()
	noTemp(t, s)
}

func TestGCStopsWithItsContext(t *testing.T) {
	s := newStore(t)
	d := old(t, s, "a", 100, day)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	if _, err := s.GC(ctx, GCOptions{MaxAge: time.Hour}); !errors.Is(err, errStop) {
		t.Errorf("GC: %v", err)
	}
	if err := s.Verify(d); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	s := newStore(t)
	putAction(t, s, "a", put(t, s, "hello"))
	put(t, s, "x")
	write(t, filepath.Join(s.temp(), "blob-1"), 0o600)
	for _, dir := range []string{"git/one", "empty"} {
		if err := os.MkdirAll(filepath.Join(s.Dir(), dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(s.Dir(), "git", "one", "HEAD"), 0o644)
	u, err := s.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if u.Dir != s.Dir() || u.Blobs != (Tally{2, 6}) || u.Temp != (Tally{1, 1}) || u.Actions.Count != 1 {
		t.Errorf("%+v", u)
	}
	if want := []Folder{{"empty", Tally{}}, {"git", Tally{1, 1}}}; !slices.Equal(u.Folders, want) {
		t.Errorf("folders %+v", u.Folders)
	}
	if want := u.Actions.Bytes + 8; u.Bytes() != want {
		t.Errorf("%d bytes, want %d", u.Bytes(), want)
	}
}
