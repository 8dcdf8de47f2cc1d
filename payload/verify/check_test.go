package verify

import (
	"errors"
	"testing"

	"github.com/winbake/winbake/internal/image/rootfs"
)

func TestRoom(t *testing.T) {
	c := &checker{}
	for range 2 {
		b, err := c.room("x", 20)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("01234567890123456789")
		if cap(c.memory) != 20 || string(c.memory[:20]) != b.String() {
			t.Error("memory isn't used again")
		}
	}
	_, err := c.room("x", maxExecutable+1)
	if l, ok := errors.AsType[*rootfs.LimitError](err); !ok || l.Object != "x" {
		t.Errorf("error %v, want a LimitError", err)
	}
}

// What the images of an index hold is kept until the report is made.
func TestExtrasOfAnIndexAreKeptOnce(t *testing.T) {
	c := &checker{kept: map[[32]byte][]byte{}}
	first, again := &Extras{Verify: []byte("MZ1")}, &Extras{Verify: []byte("MZ1"), Expectation: []byte("{}")}
	for _, x := range []*Extras{first, again, again} {
		if err := c.share("winbake/verify.exe", x); err != nil {
			t.Fatal(err)
		}
	}
	if &first.Verify[0] != &again.Verify[0] || c.keptBytes != 5 {
		t.Errorf("%d bytes are kept, want 5", c.keptBytes)
	}
	c.keptBytes = maxKept - 2
	err := c.share("winbake/verify.exe", &Extras{Verify: []byte("MZ3")})
	if l, ok := errors.AsType[*rootfs.LimitError](err); !ok || l.Object != "winbake/verify.exe" {
		t.Errorf("error %v, want a rootfs.LimitError", err)
	}
}
