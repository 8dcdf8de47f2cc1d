package images

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload"
)

// walked returns what Walk shows: path -> content, "/" for folders, and for
// archives the member's content.
func walked(t *testing.T, s *oci.Source, opts rootfs.Options) (map[string]string, error) {
	t.Helper()
	if opts.Roots == nil {
		opts.Roots = []string{payload.Root, payload.ExtrasRoot}
	}
	got := map[string]string{}
	err := rootfs.Walk(t.Context(), s, opts, func(e *rootfs.Entry) error {
		if _, twice := got[e.Path]; twice {
			t.Errorf("%s was visited twice", e.Path)
		}
		if e.Mode.IsDir() {
			got[e.Path] = "/"
			return nil
		}
		content := e.Content
		if e.Archived() {
			var err error
			if content, _, err = e.Member(); err != nil {
				return err
			}
		}
		b, err := io.ReadAll(content)
		got[e.Path] = string(b)
		return err
	})
	return got, err
}

func TestWalkMergesLayers(t *testing.T) {
	file := func(p, body string) item { return item{name: "payload/" + p, body: body} }
	tests := []struct {
		name   string
		layers [][]item
		want   map[string]string
	}{
		{"upper wins", [][]item{{file("a", "1"), file("b", "1")}, {file("a", "2")}}, map[string]string{"a": "2", "b": "1"}},
		{"whiteout", [][]item{{file("a", "1"), file("b", "1")}, {file(".wh.a", "")}}, map[string]string{"b": "1"}},
		{"whiteout, then again", [][]item{{file("a", "1")}, {file(".wh.a", "")}, {file("a", "3")}}, map[string]string{"a": "3"}},
		{"whiteout of a folder", [][]item{{file("d/a", "1"), file("d/b/c", "1")}, {file(".wh.d", "")}, {file("d/b/n", "3")}}, map[string]string{"d/b/n": "3"}},
		{"opaque", [][]item{{file("d/a", "1"), file("e", "1")}, {file("d/n", "2"), file("d/.wh..wh..opq", "")}}, map[string]string{"d/n": "2", "e": "1"}},
		{"opaque root", [][]item{{file("a", "1")}, {{name: ".wh..wh..opq"}, file("b", "2")}}, map[string]string{"b": "2"}},
		{"opaque between", [][]item{{file("a", "1")}, {file(".wh..wh..opq", ""), file("b", "2")}, {file("c", "3")}}, map[string]string{"b": "2", "c": "3"}},
		{"file over folder", [][]item{{file("d/a", "1")}, {file("d", "2")}}, map[string]string{"d": "2"}},
		{"folder over file", [][]item{{file("d", "1")}, {file("d/a", "2")}}, map[string]string{"d/a": "2"}},
		{"folder over file over folder", [][]item{{file("d/old", "1")}, {file("d", "2")}, {file("d/", ""), file("d/new", "3")}},
			map[string]string{"d": "/", "d/new": "3"}},
		{"folder entries merge", [][]item{{file("d/", ""), file("d/a", "1")}, {file("d/", ""), file("d/b", "2")}}, map[string]string{"d": "/", "d/a": "1", "d/b": "2"}},
		{"AUFS names", [][]item{{file("a", "1")}, {file(".wh..wh.plnk", ""), file(".wh..wh.aufs", "")}}, map[string]string{"a": "1"}},
		{"dot names", [][]item{{{name: "./payload/a", body: "1"}}, {{name: "./payload/./.wh.a"}}}, map[string]string{}},
		{"symlink to a file above", [][]item{{{name: "payload/l", kind: tar.TypeSymlink, link: "a"}}, {file("a", "2")}}, map[string]string{"a": "2", "l": "2"}},
		{"symlink over two", [][]item{{file("a", "1"), {name: "payload/d/l", kind: tar.TypeSymlink, link: "../m"}, {name: "payload/m", kind: tar.TypeSymlink, link: "/payload/a"}}},
			map[string]string{"a": "1", "d/l": "1", "m": "1"}},
		{"hard link keeps what was", [][]item{{file("a", "1"), {name: "payload/l", kind: tar.TypeLink, link: "payload/a"}}, {file(".wh.a", "")}}, map[string]string{"l": "1"}},
		{"hard links to one file", [][]item{{file("a", "1"), {name: "payload/l", kind: tar.TypeLink, link: "payload/a"}, {name: "payload/m", kind: tar.TypeLink, link: "./payload/a"}}},
			map[string]string{"a": "1", "l": "1", "m": "1"}},
		{"both roots", [][]item{{{name: "winbake/node.json", body: "{}"}, {name: "winbaked/x", body: "no"}, {name: "etc/y", body: "no"}}, {file("a", "1")}},
			map[string]string{"a": "1", "../winbake/node.json": "{}"}},
		{"archive", [][]item{{archive(t, "d/x.exe", "content")}}, map[string]string{"d/x.exe.tar.gz": "content"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			img := imageOf(t, osLayer(t))
			for _, l := range tt.layers {
				img = appendLayer(t, img, layerOf(t, l...))
			}
			got, err := walked(t, open(t, layoutOf(t, img)), rootfs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for p, body := range tt.want {
				want[strings.TrimPrefix("payload/"+p, "payload/../")] = body
			}
			if !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestWalkRefusesUnsafeEntries(t *testing.T) {
	s := open(t, layoutOf(t, imageOf(t, layerOf(t, item{name: "payload/x", kind: tar.TypeSymlink, link: "/etc"}))))
	_, err := walked(t, s, rootfs.Options{})
	wantFault(t, err, finding.ExitBlock, "payload/x", "a link out of payload")
	s = open(t, layoutOf(t, imageOf(t, layerOf(t, item{name: "payload/x.tar.gz", body: "x"}))))
	_, err = walked(t, s, rootfs.Options{})
	if _, ok := errors.AsType[*rootfs.ArchiveError](err); !ok {
		t.Errorf("error %v, want an ArchiveError", err)
	}
	s = open(t, layoutOf(t, imageOf(t, layerOf(t, item{name: "payload/x", body: "12345"}))))
	_, err = walked(t, s, rootfs.Options{Limits: rootfs.Limits{MaxFile: 4}})
	if l, ok := errors.AsType[*rootfs.LimitError](err); !ok || !strings.Contains(l.Error(), "payload/x: a file of 5 bytes, the limit is 4 bytes a file") {
		t.Errorf("error %v, want a LimitError", err)
	}
}

// A visitor needn't read what it is shown, and its error ends the walk.
func TestWalkVisitor(t *testing.T) {
	s := open(t, layoutOf(t, imageOf(t, osLayer(t), layerOf(t,
		append([]item{{name: "payload/.wh..wh..opq"}}, archivedItems(t, nodeFiles)...)...))))
	var paths []string
	var last, total int64
	opts := rootfs.Options{Roots: []string{payload.Root}, Progress: func(done, of int64) { last, total = done, of }}
	err := rootfs.Walk(t.Context(), s, opts, func(e *rootfs.Entry) error {
		if e.Archived() {
			if _, _, err := e.Member(); err != nil { // opened and left
				return err
			}
		}
		paths = append(paths, e.Path)
		return nil
	})
	if err != nil || len(paths) != len(archivedItems(t, nodeFiles)) {
		t.Errorf("%d entries, %v", len(paths), err)
	}
	if last != total || total == 0 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	boom := errors.New("boom")
	if err := rootfs.Walk(t.Context(), s, opts, func(*rootfs.Entry) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("Walk = %v, want %v", err, boom)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = rootfs.Walk(ctx, s, opts, func(*rootfs.Entry) error { cancel(); return nil })
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Walk = %v, want %v", err, context.Canceled)
	}
}
