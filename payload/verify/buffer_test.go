package verify

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/ociimage/rootfs"
)

func TestBuffer(t *testing.T) {
	pool := newChunks(4)
	b := &buffer{pool: pool}
	content := bytes.Repeat([]byte("0123456789abcde"), chunkSize/6)
	for range 2 {
		b.reset()
		if _, err := io.Copy(&bufferWriter{t.Context(), "x", b}, bytes.NewReader(content)); err != nil {
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
	if got, want := len(pool.fresh), 1; got != want {
		t.Errorf("%d chunks are left, want %d: three for the content, each used twice", got, want)
	}
}

// Executables that are held at once share one amount of memory.
func TestBuffersShareMemory(t *testing.T) {
	pool := newChunks(3)
	first, second := &buffer{pool: pool}, &buffer{pool: pool}
	two := make([]byte, 2*chunkSize)
	if _, err := (&bufferWriter{t.Context(), "first", first}).Write(two); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := (&bufferWriter{ctx, "second", second}).Write(two); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second buffer took memory that the first has: %v", err)
	}
	second.reset()
	go first.reset()
	if _, err := (&bufferWriter{t.Context(), "second", second}).Write(append(two, two[:chunkSize]...)); err != nil {
		t.Errorf("it wasn't given back: %v", err)
	}
	if _, err := (&bufferWriter{t.Context(), "second", second}).Write(two); err == nil {
		t.Error("an executable larger than the memory was taken")
	} else if _, ok := errors.AsType[*rootfs.LimitError](err); !ok {
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
