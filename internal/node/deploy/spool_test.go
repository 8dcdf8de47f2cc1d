package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
)

// What is read is what was written, while it is being written, and how it
// ended.
func TestSpoolFileIsReadWhileItGrows(t *testing.T) {
	for name, ending := range map[string]error{"well": nil, "badly": errors.New("another sum")} {
		dir := t.TempDir()
		g, err := newSpoolFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(chan struct{})
		var want []byte
		go func() {
			for i := range 200 {
				part := bytes.Repeat([]byte{byte(i)}, 1000+i)
				want = append(want, part...)
				if _, err := g.Write(part); err != nil {
					t.Error(err)
				}
				if i == 0 {
					<-seen // the first part is read before the last is written
				}
			}
			_ = g.end(ending)
		}()
		first := make([]byte, 1000)
		if _, err := io.ReadFull(g, first); err != nil {
			t.Fatal(err)
		}
		close(seen)
		rest, err := io.ReadAll(g)
		if got := slices.Concat(first, rest); !errors.Is(err, ending) || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
		}
		if err := g.close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}
