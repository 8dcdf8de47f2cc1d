package rootfs

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadAheadPassesErrors(t *testing.T) {
	boom := errors.New("boom")
	a := newReadAhead(t.Context(), io.MultiReader(strings.NewReader("some"), iotestErr{boom}))
	defer a.Close()
	b, err := io.ReadAll(a)
	if string(b) != "some" || !errors.Is(err, boom) {
		t.Errorf("read %q, %v; want some, %v", b, err, boom)
	}
}

type iotestErr struct{ err error }

func (e iotestErr) Read([]byte) (int, error) { return 0, e.err }
