package verify

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/winbake/winbake/internal/ociimage/rootfs"
)

func TestBuffer(t *testing.T) {
	b := &buffer{}
	content := bytes.Repeat([]byte("0123456789abcde"), chunkSize/6)
	for range 2 {
		b.reset("x")
		if _, err := io.Copy(b, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(b, 0, b.size))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("read %d bytes back, %v; want %d", len(got), err, len(content))
		}
	}
	p := make([]byte, 10)
	if n, err := b.ReadAt(p, b.size-4); n != 4 || err != io.EOF {
		t.Errorf("ReadAt beyond the end = %d, %v", n, err)
	}
	if _, err := b.ReadAt(p, -1); err == nil {
		t.Error("ReadAt(-1) gave no error")
	}
	if got := len(b.chunks); got != 3 {
		t.Errorf("%d chunks, want 3 for the content, each used twice", got)
	}
	b.size = maxChunks * chunkSize
	if _, err := b.Write(p); err == nil {
		t.Error("an executable larger than the memory was taken")
	} else if l, ok := errors.AsType[*rootfs.LimitError](err); !ok || l.Object != "x" {
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
