package payload

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/test/support/await"
)

// The codec's ID is part of cache keys: it must name the versions that are
// really linked.
func TestCodecVersions(t *testing.T) {
	raw, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.ParseLax("go.mod", raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"github.com/klauspost/pgzip": "v" + pgzipVersion, "github.com/klauspost/compress": "v" + compressVersion}
	for _, r := range mod.Require {
		if v, ok := want[r.Mod.Path]; ok && v != r.Mod.Version {
			t.Errorf("go.mod has %s %s, the codec says %s", r.Mod.Path, r.Mod.Version, v)
		}
		delete(want, r.Mod.Path)
	}
	for p := range want {
		t.Errorf("go.mod doesn't require %s", p)
	}
}

func TestCodecID(t *testing.T) {
	tests := []struct {
		codec Codec
		want  string
	}{
		{Codec{Gzip, 6}, "pgzip/1.3.0/klauspost-1.20.3/level-6/1MiB"},
		{Codec{Zstd, 1}, "zstd/klauspost-1.20.3/level-1"},
	}
	for _, tt := range tests {
		if got := tt.codec.ID(); got != tt.want {
			t.Errorf("%v.ID() = %q, want %q", tt.codec, got, tt.want)
		}
	}
}

func TestNewCodec(t *testing.T) {
	for _, name := range []string{Gzip, Zstd} {
		for _, f := range []Format{Flat, Archived} {
			c, err := NewCodec(name, f)
			if err != nil || c.Name != name || c.Check() != nil {
				t.Errorf("NewCodec(%s, %s) = %v, %v", name, f, c, err)
			}
		}
	}
	_, err := NewCodec("xz", Flat)
	checkText(t, err, []string{`no compressor "xz"`, "gzip or zstd"})
	for _, c := range []Codec{{}, {Gzip, 10}, {Gzip, -1}, {Zstd, 0}, {Zstd, 5}, {"xz", 1}} {
		if c.Check() == nil {
			t.Errorf("%v passes", c)
		}
	}
}

func compress(t *testing.T, c Codec, in string, blocks, chunk int) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := c.newWriter(&out, blocks)
	if err != nil {
		t.Fatal(err)
	}
	for len(in) > 0 {
		n := min(len(in), chunk)
		if _, err := io.WriteString(z, in[:n]); err != nil {
			t.Fatal(err)
		}
		in = in[n:]
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCodecIsDeterministic(t *testing.T) {
	in := programLike(9, 2<<20+5)
	for _, c := range []Codec{{Gzip, 0}, {Gzip, 3}, {Gzip, 6}, {Zstd, 1}, {Zstd, 2}} {
		want := compress(t, c, in, 1, len(in))
		rc, err := rootfs.Inflate(bytes.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(rc); err != nil || string(got) != in {
			t.Errorf("%s: what comes out isn't what went in: %v", c.ID(), err)
		}
		for _, procs := range []int{1, 4} {
			old := runtime.GOMAXPROCS(procs)
			for _, blocks := range []int{1, 3} {
				if got := compress(t, c, in, blocks, 1000*blocks+1); !bytes.Equal(got, want) {
					t.Errorf("%s: other bytes with GOMAXPROCS %d and %d blocks", c.ID(), procs, blocks)
				}
			}
			runtime.GOMAXPROCS(old)
		}
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestCodecReportsTheWriter(t *testing.T) {
	for _, c := range []Codec{{Gzip, 0}, {Gzip, 6}, {Zstd, 1}} {
		for _, room := range []int{0, 5, 100000} {
			before := compressing()
			z, err := c.newWriter(&failingWriter{room}, 2)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.Copy(z, strings.NewReader(programLike(1, 2<<20)))
			if cerr := z.Close(); !errors.Is(cerr, errFull) {
				t.Errorf("%s: Close = %v after Copy = %v, want %v", c.ID(), cerr, err, errFull)
			}
			await.True(t, c.ID()+": its goroutines end", func() bool { return compressing() <= before })
		}
	}
}

// compressing counts the goroutines that run a compressor: the runtime and
// other tests have goroutines of their own.
func compressing() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	n := 0
	for _, g := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(g, "github.com/klauspost/") {
			n++
		}
	}
	return n
}

// programs keeps what programLike gave: making it takes longer than most tests.
var programs sync.Map

// programLike gives bytes that compress to about a third, as programs do.
func programLike(seed uint64, n int) string {
	type key struct {
		seed uint64
		n    int
	}
	if s, ok := programs.Load(key{seed, n}); ok {
		return s.(string)
	}
	r := rand.New(rand.NewPCG(seed, 7))
	words := make([][]byte, 400)
	for i := range words {
		words[i] = make([]byte, 2+r.IntN(14))
		for j := range words[i] {
			words[i][j] = byte(r.Uint32())
		}
	}
	var b bytes.Buffer
	for b.Len() < n {
		b.Write(words[min(r.IntN(400), r.IntN(400))])
	}
	programs.Store(key{seed, n}, b.String()[:n])
	return b.String()[:n]
}

// checkText holds an error to texts that must be in it; none of them: no error.
func checkText(t *testing.T, err error, want []string) {
	t.Helper()
	if len(want) == 0 {
		if err != nil {
			t.Fatalf("error: %v", err)
		}
		return
	}
	if err == nil {
		t.Fatalf("no error, want one with %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q lacks %q", err, w)
		}
	}
}
