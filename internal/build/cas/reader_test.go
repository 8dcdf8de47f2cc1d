package cas

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

func TestDamagedBlob(t *testing.T) {
	reads := map[string]func(*Store) error{
		"open":   func(s *Store) error { _, err := get(s, helloDigest); return err },
		"verify": func(s *Store) error { return s.Verify(helloDigest) },
	}
	for how, damage := range damages {
		for way, read := range reads {
			t.Run(how+"/"+way, func(t *testing.T) {
				s := newStore(t)
				put(t, s, "hello")
				overwrite(t, s.Path(helloDigest), damage)
				err := read(s)
				if !errors.Is(err, ErrDamaged) {
					t.Fatalf("read it: %v", err)
				}
				if f, ok := errors.AsType[*fault.Error](err); !ok || f.Fix == "" || f.Where != s.Path(helloDigest) {
					t.Errorf("not for a person: %v", err)
				}
				if _, err := s.Stat(helloDigest); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it is still there: %v", err)
				}
				put(t, s, "hello")
				if err := s.Verify(helloDigest); err != nil {
					t.Errorf("made again: %v", err)
				}
			})
		}
	}
}

func TestPutHealsADamagedBlob(t *testing.T) {
	for how, damage := range damages {
		t.Run(how, func(t *testing.T) {
			s := newStore(t)
			put(t, s, "hello")
			overwrite(t, s.Path(helloDigest), damage)
			put(t, s, "hello")
			if err := s.Verify(helloDigest); err != nil {
				t.Error(err)
			}
		})
	}
}

// A reader that opened the damaged blob must not remove the one that has
// taken its place.
func TestDamageFoundAfterHealing(t *testing.T) {
	s := newStore(t)
	put(t, s, "hello")
	overwrite(t, s.Path(helloDigest), damages["flip"])
	r, err := s.Open(helloDigest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	put(t, s, "hello")
	if _, err := io.ReadAll(r); !errors.Is(err, ErrDamaged) {
		t.Errorf("the old one was read: %v", err)
	}
	if err := s.Verify(helloDigest); err != nil {
		t.Errorf("the new one is gone: %v", err)
	}
}

func TestCloseVerifies(t *testing.T) {
	for _, tt := range []struct {
		name  string
		take  int
		flip  bool
		wants error
	}{
		{"all of a sound one", 5, false, nil},
		{"all of a damaged one", 5, true, ErrDamaged},
		{"a part of a damaged one", 3, true, nil}, // its end was never looked at
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			put(t, s, "hello")
			if tt.flip {
				overwrite(t, s.Path(helloDigest), damages["flip"])
			}
			r, err := s.Open(helloDigest)
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

func TestReadingAfterTheEnd(t *testing.T) {
	s := newStore(t)
	r, err := s.Open(put(t, s, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
}
