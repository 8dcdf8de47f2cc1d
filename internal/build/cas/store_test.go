package cas

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
)

const helloDigest = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"

func TestPutThenOpen(t *testing.T) {
	s := newStore(t)
	for _, content := range []string{"", "hello", strings.Repeat("0123456789abcdef", bufferSize/8)} {
		d := put(t, s, content)
		got, err := get(s, d)
		if err != nil || got != content {
			t.Errorf("%s: %d bytes, %v; want %d", d, len(got), err, len(content))
		}
		if size, err := s.Stat(d); err != nil || size != int64(len(content)) {
			t.Errorf("Stat = %d, %v", size, err)
		}
		if err := s.Verify(d); err != nil {
			t.Error(err)
		}
	}
	noTemp(t, s)
}

func TestLayout(t *testing.T) {
	s := newStore(t)
	d := put(t, s, "hello")
	want := filepath.Join(s.Dir(), "blobs/sha256/2c", strings.TrimPrefix(helloDigest, digestPrefix))
	if d != helloDigest || s.Path(d) != want {
		t.Errorf("%s lies at %s", d, s.Path(d))
	}
	info, err := os.Stat(want)
	if err != nil || info.Mode() != 0o444 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestPutAgainKeepsOneBlob(t *testing.T) {
	s := newStore(t)
	put(t, s, "hello")
	put(t, s, "hello")
	if got := files(t, s.blobs()); len(got) != 1 {
		t.Errorf("blobs: %v", got)
	}
}

func TestNotADigest(t *testing.T) {
	s := newStore(t)
	hex := strings.TrimPrefix(helloDigest, digestPrefix)
	for _, d := range []string{
		"", hex, "sha256:", "sha512:" + hex, "sha256:" + strings.ToUpper(hex), helloDigest + "0",
		"sha256:" + strings.Repeat("../", 21) + "x", "sha256:" + strings.Repeat("é", 32),
	} {
		_, openErr := s.Open(d)
		_, statErr := s.Stat(d)
		_, getErr := s.GetAction(d, new(string))
		for i, err := range []error{openErr, statErr, getErr, s.Verify(d), s.PutAction(d, 1), s.PutAction(helloDigest, 1, d)} {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%d: %q was taken for a digest: %v", i, d, err)
			}
		}
		if p := s.Path(d); p != "" {
			t.Errorf("%q has the path %s", d, p)
		}
	}
}

func TestMissingBlob(t *testing.T) {
	s := newStore(t)
	_, openErr := s.Open(helloDigest)
	_, statErr := s.Stat(helloDigest)
	for i, err := range []error{openErr, statErr, s.Verify(helloDigest)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	s := newStore(t)
	w, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte{1}, 2*bufferSize)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Abort(), w.Abort()); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte{1}); err == nil {
		t.Error("an aborted blob can be written to")
	}
	if _, _, err := w.Commit(); err == nil {
		t.Error("an aborted blob can be committed")
	}
	noTemp(t, s)
	if got := files(t, s.blobs()); len(got) > 0 {
		t.Errorf("blobs: %v", got)
	}
}

func TestAbortAfterCommitKeepsTheBlob(t *testing.T) {
	s := newStore(t)
	w, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := w.Commit()
	if err := errors.Join(err, w.Abort(), s.Verify(d)); err != nil {
		t.Error(err)
	}
}

// endless never ends and counts its reads.
type endless struct{ cancel context.CancelCauseFunc }

func (e endless) Read(p []byte) (int, error) { e.cancel(errStop); return len(p), nil }

var errStop = errors.New("stop")

func TestPutStopsWithItsContext(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, _, err := s.Put(ctx, endless{cancel}); !errors.Is(err, errStop) {
		t.Errorf("Put: %v", err)
	}
	noTemp(t, s)
}

func TestPutReturnsTheReadersError(t *testing.T) {
	s := newStore(t)
	r := io.MultiReader(strings.NewReader("half"), iotestErr{})
	if _, _, err := s.Put(t.Context(), r); !errors.Is(err, errStop) {
		t.Errorf("Put: %v", err)
	}
	noTemp(t, s)
	if got := files(t, s.blobs()); len(got) > 0 {
		t.Errorf("blobs: %v", got)
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errStop }

func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			// A Store each, as processes have.
			s, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				content := strings.Repeat(name(i), 1000)
				d, _, err := s.Put(t.Context(), strings.NewReader(content))
				if err == nil {
					err = s.PutAction(sumOf([]byte(name(i))), name(i), d)
				}
				got, openErr := get(s, d)
				if err := errors.Join(err, openErr); err != nil || got != content {
					t.Errorf("worker %d, blob %d: %v", worker, i, err)
				}
				if !has(t, s, name(i)) {
					t.Errorf("worker %d: no record %d", worker, i)
				}
				if i%10 == worker {
					if _, err := s.GC(t.Context(), GCOptions{MaxAge: time.Nanosecond, MaxBytes: 1}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	noTemp(t, s)
	if got := files(t, s.blobs()); len(got) != 20 {
		t.Errorf("%d blobs", len(got))
	}
}

func TestStatIsAUse(t *testing.T) {
	s := newStore(t)
	d := put(t, s, "hello")
	age(t, s.Path(d), 3*time.Hour)
	if _, err := s.Stat(d); err != nil {
		t.Fatal(err)
	}
	if _, err := s.GC(t.Context(), GCOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(d); err != nil {
		t.Errorf("collected right after it was looked up: %v", err)
	}
}
