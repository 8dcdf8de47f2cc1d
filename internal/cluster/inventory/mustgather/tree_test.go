package mustgather

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/test/support/compressed"
)

// files are a must-gather's files by path.
type files map[string]string

// folder writes fs below a new folder.
func (fs files) folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range fs {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (fs files) names() []string { return slices.Sorted(maps.Keys(fs)) }

// tar packs fs, sorted by path.
func (fs files) tar(t testing.TB) []byte {
	t.Helper()
	return fs.tarOf(t, fs.names())
}

// tarOf packs the named files in that order.
func (fs files) tarOf(t testing.TB, names []string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(fs[name])), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, fs[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdBytes(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

func bytesFile(t testing.TB, name string, b []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// visited walks top and returns the files it was shown.
func visited(ctx context.Context, top string) (files, error) {
	got := files{}
	err := walk(ctx, top, func(name string, r io.Reader) error {
		if r == nil {
			return nil
		}
		b, err := io.ReadAll(r)
		if err == nil {
			got[name] = string(b)
		}
		return err
	}, nil)
	return got, err
}

func TestWalk(t *testing.T) {
	want := files{"a/b.yaml": "b", "a/c/d.yaml": strings.Repeat("d", 5000), "version": ""}
	packed := want.tar(t)
	for name, top := range map[string]string{
		"folder": want.folder(t),
		"tar":    bytesFile(t, "x.tar", packed),
		"gzip":   bytesFile(t, "x.tar.gz", compressed.Gzip(t, packed)),
		"zstd":   bytesFile(t, "x.tar.zst", zstdBytes(t, packed)),
		"parts":  bytesFile(t, "x.tgz", append(compressed.Gzip(t, packed[:1024]), compressed.Gzip(t, packed[1024:])...)),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := visited(t.Context(), top); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// Names that lead out, links and devices aren't a must-gather's.
func TestWalkPassesBy(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "../../etc/a.yaml", Typeflag: tar.TypeReg}, {Name: "/etc/b.yaml", Typeflag: tar.TypeReg},
		{Name: "a/../../c.yaml", Typeflag: tar.TypeReg}, {Name: "link.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard.yaml", Typeflag: tar.TypeLink, Linkname: "in.yaml"}, {Name: "fifo", Typeflag: tar.TypeFifo},
		{Name: "./a/./in.yaml", Typeflag: tar.TypeReg},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := visited(t.Context(), bytesFile(t, "x.tar", b.Bytes()))
	if want := (files{"a/in.yaml": ""}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	dir := files{"in.yaml": "x"}.folder(t)
	if err := os.Symlink("/etc", path.Join(dir, "namespaces")); err != nil {
		t.Fatal(err)
	}
	if got, err := visited(t.Context(), dir); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWalkCut(t *testing.T) {
	fs := files{"a.yaml": strings.Repeat("a", 3000), "b.yaml": strings.Repeat("b", 3000), "c.yaml": "c"}
	packed := fs.tar(t)
	random := compressed.Gzip(t, packed)
	for name, top := range map[string]string{
		"tar in a file":     bytesFile(t, "x.tar", packed[:6500]),
		"tar in a header":   bytesFile(t, "x.tar", packed[:len(packed)-1024-512-200]),
		"gzip":              bytesFile(t, "x.tar.gz", random[:len(random)-20]),
		"gzip, of cut tar":  bytesFile(t, "x.tar.gz", compressed.Gzip(t, packed[:6500])),
		"tar with a hole":   bytesFile(t, "x.tar", append(bytes.Clone(packed[:7168]), bytes.Repeat([]byte("x"), 9000)...)),
		"gzip with garbage": bytesFile(t, "x.tar.gz", append(compressed.Gzip(t, packed[:6500]), "garbage"...)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := visited(t.Context(), top)
			if _, ok := errors.AsType[*cutError](err); !ok {
				t.Fatalf("%v, want a cut archive", err)
			}
			for file, content := range got {
				if fs[file] != content {
					t.Errorf("%s was shown with other content", file)
				}
			}
		})
	}
}

func TestWalkFaults(t *testing.T) {
	for name, tt := range map[string]struct{ top, want string }{
		"missing":     {filepath.Join(t.TempDir(), "x"), "no such file or folder"},
		"device":      {os.DevNull, "neither a folder nor a regular file"},
		"text":        {bytesFile(t, "x.tar", []byte("hello")), "not a tar archive"},
		"empty":       {bytesFile(t, "x.tar", nil), "not a tar archive"},
		"zip":         {bytesFile(t, "x.zip", []byte("PK\x03\x04 and more")), "not a tar archive"},
		"gzip header": {bytesFile(t, "x.tar.gz", []byte{0x1f, 0x8b}), "gzip file whose header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := visited(t.Context(), tt.top)
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || !strings.Contains(f.What, tt.want) || f.Fix == "" || f.Where != tt.top {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	fs := files{"a.yaml": "a", "b.yaml": "b"}
	for _, top := range []string{fs.folder(t), bytesFile(t, "x.tar", fs.tar(t))} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := walk(ctx, top, func(string, io.Reader) error { n++; cancel(); return nil }, nil)
		if !errors.Is(err, context.Canceled) || n != 1 {
			t.Errorf("%v after %d files", err, n)
		}
	}
}

// What a visitor says about a file isn't an archive that ends early.
func TestWalkKeepsTheVisitorsError(t *testing.T) {
	own := errors.New("own")
	for _, top := range []string{files{"a": ""}.folder(t), bytesFile(t, "x.tar", files{"a": ""}.tar(t))} {
		err := walk(t.Context(), top, func(string, io.Reader) error { return own }, nil)
		if _, cut := errors.AsType[*cutError](err); cut || !errors.Is(err, own) {
			t.Errorf("%v", err)
		}
	}
}
