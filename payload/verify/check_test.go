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
