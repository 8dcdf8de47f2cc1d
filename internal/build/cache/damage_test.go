package cache

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

func TestDamagedContent(t *testing.T) {
	for how, damage := range damages {
		t.Run(how, func(t *testing.T) {
			s := newStore(t)
			d := put(t, s, "hello")
			overwrite(t, s.Path(d), damage)
			put(t, s, "hello")
			if got, err := get(s, d); err != nil || got != "hello" {
				t.Fatalf("stored again: %q, %v", got, err)
			}
			overwrite(t, s.Path(d), damage)
			_, err := get(s, d)
			if f, ok := errors.AsType[*fault.Error](err); !ok || !errors.Is(err, ErrDamaged) || f.Fix == "" || f.Where != s.Path(d) {
				t.Errorf("read it: %v", err)
			}
			if s.Has(d) {
				t.Error("it is still there")
			}
		})
	}
}

// A reader that opened damaged content must not remove what has taken its place.
func TestDamageFoundAfterHealing(t *testing.T) {
	s := newStore(t)
	d := put(t, s, "hello")
	overwrite(t, s.Path(d), damages["flip"])
	r, err := s.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	put(t, s, "hello")
	if _, err := io.ReadAll(r); !errors.Is(err, ErrDamaged) {
		t.Errorf("the old one was read: %v", err)
	}
	if _, err := get(s, d); err != nil {
		t.Errorf("the new one is gone: %v", err)
	}
}

func TestCloseVerifies(t *testing.T) {
	for name, tt := range map[string]struct {
		take  int
		flip  bool
		wants error
	}{
		"all of sound content":      {5, false, nil},
		"all of damaged content":    {5, true, ErrDamaged},
		"a part of damaged content": {3, true, nil}, // its end was never looked at
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			d := put(t, s, "hello")
			if tt.flip {
				overwrite(t, s.Path(d), damages["flip"])
			}
			r, err := s.Open(d)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(r, make([]byte, tt.take)); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); !errors.Is(err, tt.wants) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// Whichever bit of whichever file flips, nothing wrong is served: what was stored,
// or nothing.
func TestFlips(t *testing.T) {
	const content = "what was built, some bytes of it"
	s := newStore(t)
	d := put(t, s, content)
	if err := s.PutAction(sumOf("a"), d); err != nil {
		t.Fatal(err)
	}
	paths := files(t, s.dir+"/artifacts")
	if len(paths) != 3 { // content, record, and which record it is
		t.Fatalf("files %v", paths)
	}
	for range 300 {
		path := paths[rand.IntN(len(paths))]
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := rand.IntN(len(data))
		data[at] ^= 1 << rand.IntN(8)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := recorded(s, "a"); got != "" && got != d {
			t.Errorf("%s, byte %d: the record says %q", path, at, got)
		}
		if got, err := get(s, d); err == nil && got != content {
			t.Errorf("%s, byte %d: %q", path, at, got)
		}
		put(t, s, content)
		if err := s.PutAction(sumOf("a"), d); err != nil || recorded(s, "a") != d {
			t.Fatalf("made again after byte %d of %s: %q, %v", at, path, recorded(s, "a"), err)
		}
	}
}
