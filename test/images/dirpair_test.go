package images

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/base/atomicfs"
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
	x, err := verify.ReadExtras(t.Context(), s, rootfs.Limits{})
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

// swap puts temp in the place of dir, and what was there in its own.
func swap(temp, dir string) error {
	aside := temp + ".aside"
	if err := os.Rename(dir, aside); err != nil {
		return os.Rename(temp, dir)
	}
	return errors.Join(os.Rename(temp, dir), os.Rename(aside, temp))
}

// settled takes the mark of what is to be put in place away.
func settled(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	return os.Chmod(dir, info.Mode().Perm())
}

// cutShort leaves what a run leaves that was killed so many steps after it was
// decided upon.
func cutShort(t *testing.T, dir string, run, steps int) {
	t.Helper()
	next := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".winbake.next")
	staged := filepath.Join(t.TempDir(), "new")
	if err := writeRun(t.Context(), staged, run); err != nil {
		t.Fatal(err)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.Mkdir(next, 0o700))
	do(os.Rename(staged, filepath.Join(next, "payload")))
	do(os.Mkdir(filepath.Join(next, "winbake"), 0o755))
	if run%3 > 0 {
		do(os.Rename(filepath.Join(atomicfs.Beside(staged), payload.ExpectationName), filepath.Join(next, "winbake", payload.ExpectationName)))
	}
	do(os.Chmod(filepath.Join(next, "payload"), 0o755|fs.ModeSticky))
	do(os.Chmod(filepath.Join(next, "winbake"), 0o755|fs.ModeSticky))
	for n, step := range []func() error{
		func() error { return swap(filepath.Join(next, "payload"), dir) },
		func() error { return swap(filepath.Join(next, "winbake"), atomicfs.Beside(dir)) },
		func() error { return settled(dir) },
		func() error { return settled(atomicfs.Beside(dir)) },
		func() error { return os.RemoveAll(filepath.Join(next, "payload")) },
	} {
		if n < steps {
			do(step())
		}
	}
}

// Whatever of a decided run was done, its payload and its extras are what counts,
// and the next run goes on from there.
func TestCutShortRunCounts(t *testing.T) {
	for before := range 3 {
		for run := 3; run < 6; run++ {
			for steps := range 6 {
				dir := filepath.Join(t.TempDir(), "out")
				if err := writeRun(t.Context(), dir, before); err != nil {
					t.Fatal(err)
				}
				cutShort(t, dir, run, steps)
				if got := runOf(t, dir); got != run {
					t.Errorf("after %d steps from %d to %d: %d is read", steps, before, run, got)
				}
				if err := writeRun(t.Context(), dir, 7); err != nil {
					t.Fatal(err)
				}
				if got := runOf(t, dir); got != 7 {
					t.Errorf("the next run isn't read but %d", got)
				}
				onlyThePair(t, dir)
			}
		}
	}
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
