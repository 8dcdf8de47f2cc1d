package cache

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/base/stream"
)

func TestPutThenOpen(t *testing.T) {
	s := newStore(t)
	for _, content := range []string{"", "hello", strings.Repeat("0123456789abcdef", stream.BufferSize/8)} {
		d := put(t, s, content)
		if got, err := get(s, d); err != nil || got != content || !s.Has(d) {
			t.Errorf("%s: %d bytes, %v; want %d", d, len(got), err, len(content))
		}
	}
	put(t, s, "hello")
	if n := len(contents(t, s)); n != 3 {
		t.Errorf("%d files of 3 contents", n)
	}
	noTemp(t, s)
}

func TestNotADigest(t *testing.T) {
	s := newStore(t)
	hello := sumOf("hello")
	hex := strings.TrimPrefix(hello, "sha256:")
	for _, d := range []string{
		"", hex, "sha256:", "sha512:" + hex, "sha256:" + strings.ToUpper(hex), hello + "0",
		"sha256:" + strings.Repeat("../", 21) + "x", "sha256:" + strings.Repeat("é", 32),
	} {
		if _, err := s.Open(d); err == nil || s.Has(d) || s.Path(d) != "" || s.GetAction(d, new(string)) || s.PutAction(d, 1) == nil {
			t.Errorf("%q was taken for a digest: %v", d, err)
		}
	}
}

func TestMissing(t *testing.T) {
	s := newStore(t)
	if _, err := s.Open(sumOf("hello")); !errors.Is(err, fs.ErrNotExist) || s.Has(sumOf("hello")) || recorded(s, "a") != "" {
		t.Error(err)
	}
}

func TestAction(t *testing.T) {
	s := newStore(t)
	for _, want := range []string{"one", "<two>"} {
		if err := s.PutAction(sumOf("a"), want); err != nil || recorded(s, "a") != want {
			t.Errorf("%v, %q; want %q", err, recorded(s, "a"), want)
		}
	}
	if s.GetAction(sumOf("a"), new(int)) {
		t.Error("a text was read as a number")
	}
	if err := s.PutAction(sumOf("b"), func() {}); err == nil {
		t.Error("a func was recorded")
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	s := newStore(t)
	w, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte{1}, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Abort(), w.Abort()); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte{1}); err == nil {
		t.Error("aborted content can be written to")
	}
	if _, _, err := w.Commit(); err == nil {
		t.Error("aborted content can be committed")
	}
	noTemp(t, s)
	if got := contents(t, s); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

var errStop = errors.New("stop")

// endless never ends; it ends its context.
type endless struct{ cancel context.CancelCauseFunc }

func (e endless) Read(p []byte) (int, error) { e.cancel(errStop); return len(p), nil }

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errStop }

func TestPutStops(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	for _, r := range []io.Reader{io.MultiReader(strings.NewReader("half"), failing{}), endless{cancel}} {
		if _, _, err := s.Put(ctx, r); !errors.Is(err, errStop) && !errors.Is(err, context.Canceled) {
			t.Errorf("Put: %v", err)
		}
	}
	noTemp(t, s)
	if got := contents(t, s); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// Runs at once may make the same twice, and never something wrong.
func TestConcurrentRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := Open(dir) // a Store each, as processes have
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				content := strings.Repeat(name(i), 1000)
				d, _, err := s.Put(t.Context(), strings.NewReader(content))
				if err == nil {
					err = s.PutAction(sumOf(name(i)), d)
				}
				got, getErr := get(s, d)
				if err := errors.Join(err, getErr); err != nil || got != content || recorded(s, name(i)) != d {
					t.Errorf("content %d: %v, %q", i, err, recorded(s, name(i)))
				}
				s.Trim()
			}
		})
	}
	wg.Wait()
}

// What wasn't used for 5 days goes, and what is used stays.
func TestTrim(t *testing.T) {
	s := newStore(t)
	used, unused := put(t, s, "used"), put(t, s, "unused")
	for _, d := range []Digest{used, unused} {
		then := time.Now().Add(-6 * 24 * time.Hour)
		if err := os.Chtimes(s.Path(d), then, then); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Has(used) {
		t.Error("not there")
	}
	s.Trim()
	if !s.Has(used) || s.Has(unused) {
		t.Errorf("used %v, unused %v", s.Has(used), s.Has(unused))
	}
}

// What a killed process left goes, and not what a living one has.
func TestTrimTemp(t *testing.T) {
	s := newStore(t)
	dir, remove, err := s.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(filepath.Dir(s.unfinished), ".work.winbake-left")
	if err := errors.Join(os.MkdirAll(left, 0o700), os.WriteFile(filepath.Join(left, "content"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.Trim()
	if _, err := os.Stat(left); err == nil {
		t.Error("what was left is still there")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	noTemp(t, s)
}
