package images

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// writeRun writes a payload and extras that can be told from another run's.
func writeRun(ctx context.Context, dir string, run int) error {
	text := strconv.Itoa(run)
	tree := &payload.Tree{Format: payload.Flat, Files: []payload.File{extraFile("a.exe", text), extraFile("sub/b.exe", text)}}
	o := payload.DirOptions{}
	if run%3 > 0 { // every third has no extras
		o.Extras = []payload.File{extraFile(payload.ExpectationName, text)}
	}
	return payload.WriteDir(ctx, dir, tree, o)
}

// runOf is the run whose payload and extras a reader of dir sees.
func runOf(t *testing.T, dir string) (run int) {
	t.Helper()
	s, err := oci.Load(t.Context(), dir, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	err = rootfs.Walk(t.Context(), s, rootfs.Options{Roots: []string{payload.Root}}, func(e *rootfs.Entry) error {
		if e.Mode.IsDir() {
			return nil
		}
		b, err := io.ReadAll(e.Content)
		texts = append(texts, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	x, err := verify.ReadExtras(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) != 2 || texts[0] != texts[1] {
		t.Fatalf("the payload is of the runs %q", texts)
	}
	run, err = strconv.Atoi(texts[0])
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	if run%3 > 0 {
		want = texts[0]
	}
	if string(x.Expectation) != want {
		t.Errorf("the payload is of run %d, what is beside it of %q", run, x.Expectation)
	}
	return run
}

// onlyThePair checks that nothing else is left, and the modes.
func onlyThePair(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if name := e.Name(); name != "out" && name != "out."+payload.ExtrasRoot || info.Mode() != fs.ModeDir|0o755 {
			t.Errorf("left: %s, %s", name, info.Mode())
		}
	}
}

// Two runs end as one of them.
func TestConcurrentDirs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for range 20 {
		var wg sync.WaitGroup
		for run := range 3 {
			wg.Go(func() {
				if err := writeRun(t.Context(), dir, run); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		runOf(t, dir)
		onlyThePair(t, dir)
	}
}

// A link is followed, by who writes and by who reads, and stays.
func TestDirThroughALink(t *testing.T) {
	parent := t.TempDir()
	dir, link := filepath.Join(parent, "out"), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := writeRun(t.Context(), link, 1); err == nil {
		t.Error("a link that leads nowhere is written through")
	}
	for _, run := range []int{1, 2, 3} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := writeRun(t.Context(), link, run); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{dir, link} {
			if got := runOf(t, name); got != run {
				t.Errorf("%s: run %d, want %d", name, got, run)
			}
		}
		onlyThePair(t, dir)
	}
	if entries, err := os.ReadDir(filepath.Dir(link)); err != nil || len(entries) != 1 || entries[0].Type() != fs.ModeSymlink {
		t.Errorf("beside the link: %v, %v", entries, err)
	}
}
