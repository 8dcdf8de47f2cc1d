package cas

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
)

// What the hint says never decides over the digest.
func TestCRCIsAHint(t *testing.T) {
	hints := map[string]func(t *testing.T, name string){
		"gone":  func(t *testing.T, name string) { remove(t, name) },
		"empty": func(t *testing.T, name string) { replace(t, name, "") },
		"half":  func(t *testing.T, name string) { replace(t, name, "crc32c 12") },
		"more":  func(t *testing.T, name string) { replace(t, name, "crc32c 12345678\nand more") },
		"wrong": func(t *testing.T, name string) { replace(t, name, "crc32c 12345678\n") },
	}
	for how, spoil := range hints {
		t.Run(how, func(t *testing.T) {
			s := newStore(t)
			put(t, s, "hello")
			spoil(t, s.crcPath(s.Path(helloDigest)))
			if got, err := get(s, helloDigest); err != nil || got != "hello" {
				t.Errorf("an intact blob reads as %q, %v", got, err)
			}
			if _, known := s.readCRC(s.Path(helloDigest)); known != (how != "wrong") {
				t.Errorf("after that the hint is known: %v", known)
			}
			overwrite(t, s.Path(helloDigest), damages["flip"])
			if _, err := get(s, helloDigest); !errors.Is(err, ErrDamaged) {
				t.Errorf("a damaged blob: %v", err)
			}
			if _, err := os.Stat(s.crcPath(s.Path(helloDigest))); how != "gone" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the hint outlived the blob: %v", err)
			}
		})
	}
}

// A blob that was changed together with its hint is for Verify to find.
func TestVerifyDoesNotTrustTheCRC(t *testing.T) {
	s, other := newStore(t), newStore(t)
	put(t, s, "hello")
	o := put(t, other, "jello")
	for to, from := range map[string]string{
		s.Path(helloDigest):            other.Path(o),
		s.crcPath(s.Path(helloDigest)): other.crcPath(other.Path(o)),
	} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		replace(t, to, string(b))
	}
	if err := s.Verify(helloDigest); !errors.Is(err, ErrDamaged) {
		t.Errorf("Verify: %v", err)
	}
}

func TestPutHealsTheCRC(t *testing.T) {
	s := newStore(t)
	put(t, s, "hello")
	replace(t, s.crcPath(s.Path(helloDigest)), "")
	put(t, s, "hello")
	if _, known := s.readCRC(s.Path(helloDigest)); !known {
		t.Error("the hint is still unreadable")
	}
	r, err := s.Open(helloDigest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); err != nil {
		t.Error(err)
	}
}

func replace(t *testing.T, name, content string) {
	t.Helper()
	remove(t, name)
	if err := os.WriteFile(name, []byte(content), 0o444); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}
