package cas

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the process that gets killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeForEver(dir)
	}
	asOther()
	os.Exit(m.Run())
}

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Store, content string) Digest {
	t.Helper()
	d, size, err := s.Put(t.Context(), strings.NewReader(content))
	if err != nil || size != int64(len(content)) {
		t.Fatalf("Put: %s, %d bytes, %v", d, size, err)
	}
	return d
}

func putAction(t testing.TB, s *Store, name string, refs ...Digest) Digest {
	t.Helper()
	key := sumOf([]byte(name))
	if err := s.PutAction(key, name, refs...); err != nil {
		t.Fatal(err)
	}
	return key
}

// has reports whether the action is there and is what putAction wrote.
func has(t testing.TB, s *Store, name string) bool {
	t.Helper()
	var got string
	ok, err := s.GetAction(sumOf([]byte(name)), &got)
	if err != nil || ok && got != name {
		t.Fatalf("GetAction %s: %q, %v", name, got, err)
	}
	return ok
}

func get(s *Store, d Digest) (string, error) {
	r, err := s.Open(d)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// age makes a file look unused for that long.
func age(t testing.TB, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// overwrite changes a file of the store in place, as a bad disk would.
func overwrite(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(slices.Clone(data)), 0o644); err != nil {
		t.Fatal(err)
	}
}

var damages = map[string]func([]byte) []byte{
	"flip":     func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	"truncate": func(b []byte) []byte { return b[:len(b)-1] },
	"empty":    func([]byte) []byte { return nil },
	"grow":     func(b []byte) []byte { return append(b, 0) },
	"zeros":    func(b []byte) []byte { clear(b); return b },
}

// files lists what lies below dir, sorted.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func noTemp(t testing.TB, s *Store) {
	t.Helper()
	entries, err := os.ReadDir(s.temp())
	if err != nil || len(entries) > 0 {
		t.Errorf("tmp holds %v, %v", entries, err)
	}
}

func name(i int) string { return fmt.Sprintf("action %d", i) }
