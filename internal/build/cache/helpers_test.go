package cache

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the process that gets killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeForEver(dir)
	}
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
	if err != nil || size != int64(len(content)) || d != sumOf(content) {
		t.Fatalf("Put: %s, %d bytes, %v", d, size, err)
	}
	return d
}

func sumOf(content string) Digest { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))) }

func get(s *Store, d Digest) (string, error) {
	r, err := s.Open(d)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// recorded is what putAction kept under a name; "" for nothing.
func recorded(s *Store, name string) (value string) {
	if !s.GetAction(sumOf(name), &value) {
		return ""
	}
	return value
}

// files lists what is below dir.
func files(t testing.TB, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// contents are the files of a store that hold content.
func contents(t testing.TB, s *Store) (paths []string) {
	t.Helper()
	for _, f := range files(t, filepath.Join(s.dir, "artifacts")) {
		if strings.HasSuffix(f, "-d") {
			paths = append(paths, f)
		}
	}
	return paths
}

func noTemp(t testing.TB, s *Store) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(s.unfinished))
	if err != nil || len(entries) > 0 {
		t.Errorf("tmp holds %v, %v", entries, err)
	}
}

// damages are what a bad disk or a power cut does to a file.
var damages = map[string]func([]byte) []byte{
	"flip":     func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	"truncate": func(b []byte) []byte { return b[:len(b)-1] },
	"empty":    func([]byte) []byte { return nil },
	"grow":     func(b []byte) []byte { return append(b, 0) },
	"zeros":    func(b []byte) []byte { clear(b); return b },
}

func overwrite(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o644); err != nil {
		t.Fatal(err)
	}
}
