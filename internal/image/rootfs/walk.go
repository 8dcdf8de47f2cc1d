// Package rootfs is the file system of an image as a container sees it: layers
// merged from the top, whiteouts honoured, nothing unpacked to disk. It refuses
// what would be unpacked elsewhere, hidden or run with more rights, and images
// beyond its limits. mutate.Extract does less: see docs/architecture.md.
//
// It isn't for what files mean; callers judge them.
package rootfs

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/base/winname"
	"github.com/winbake/winbake/internal/image/oci"
)

// Options says what Walk visits.
type Options struct {
	// Roots are the top-level folders that are opened; everything else in an
	// image is passed over. A plain folder counts as the first of them.
	Roots  []string
	Limits Limits
	// Progress is told about the compressed bytes of all layers.
	Progress stream.Progress

	// Enough is asked after each layer; true leaves the lower ones unread. May be
	// nil.
	Enough func() bool
	// Unsafe gets each entry that isn't safe to unpack; its error ends the walk.
	// nil ends it with the first of them.
	Unsafe func(Unsafe) error
}

// Unsafe is an entry that isn't safe to unpack.
type Unsafe struct {
	// Hides tells a whiteout of what its own layer brings, on which engines
	// disagree.
	Hides                      bool
	Object, Observed, Expected string
}

// Layers counts an image's layers, and those that had to be read: the rest is
// under an opaque whiteout.
type Layers struct{ All, Read int }

// Walk visits every visible file and folder of the source's one image, or of its
// plain folder. See WalkImage.
func Walk(ctx context.Context, s *oci.Source, opts Options, visit func(*Entry) error) error {
	var img v1.Image
	if s.Kind != oci.KindDir {
		var err error
		if img, err = s.Image(); err != nil {
			return err
		}
	}
	_, err := WalkImage(ctx, s, img, opts, visit)
	return err
}

// WalkImage visits every visible file and folder of one of the source's images,
// as a container would see it. Layers are read once each, from the top, and those
// below an opaque whiteout not at all, unless a layer above has files in other
// folders, which may be links down there. The order is that of the layers, links
// come last. Without an image it visits the source's folder.
//
// A *LimitError ends the walk, as does an error of visit, and a source that
// contradicts its digests. A layer's bytes are only known to be right when
// WalkImage has returned nil.
func WalkImage(ctx context.Context, s *oci.Source, img v1.Image, opts Options, visit func(*Entry) error) (n Layers, err error) {
	w := &walker{Options: opts, source: s, visit: visit, budget: &budget{Limits: opts.Limits.withDefaults()}, overlay: newOverlay(), outside: newOutside()}
	if w.Unsafe == nil {
		w.Unsafe = w.refuse
	}
	if img != nil {
		layers, total, err := newImageLayers(s, img, w.budget, w.Progress)
		if err == nil {
			n, err = w.run(ctx, layers)
			layers.meter.Add(total) // those too that needn't be read
		}
		return n, err
	}
	root, err := os.OpenRoot(s.Name)
	if err != nil {
		return n, oci.Unreadable(s.Name, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return w.run(ctx, &folder{name: s.Name, top: w.Roots[0], root: root})
}

// refuse ends a walk that nobody judges.
func (w *walker) refuse(u Unsafe) error {
	return &fault.Error{
		What: u.Observed, Where: w.source.Name + ": " + u.Object, Code: finding.ExitBlock,
		Fix: "take the image from where it was built: these bytes aren't its builder's",
	}
}

// layers are those of an image, numbered from the bottom.
type layers interface {
	count() int
	each(ctx context.Context, layer int, fn func(*tar.Header, io.Reader) error) error
}

type walker struct {
	Options
	source *oci.Source
	visit  func(*Entry) error
	budget *budget

	layers  layers
	overlay *overlay
	outside *outside
	entries int
	links   []string
}

func (w *walker) run(ctx context.Context, layers layers) (Layers, error) {
	w.layers = layers
	n := Layers{All: layers.count()}
	for i := n.All - 1; i >= 0; i-- {
		closed := w.closed(i)
		if closed && len(w.outside.dirs) == 0 {
			continue
		}
		n.Read++
		w.overlay.begin()
		err := layers.each(ctx, i, func(h *tar.Header, r io.Reader) error { return w.entry(i, closed, h, r) })
		if err != nil || w.Enough != nil && w.Enough() {
			return n, err
		}
	}
	for _, l := range w.outside.into(w.wants) {
		if err := w.unsafe(l, "a link into "+w.Roots[0]+" that entries are written through"); err != nil {
			return n, err
		}
	}
	return n, w.visitLinks(ctx)
}

// closed tells whether nothing of a layer can be seen in any root.
func (w *walker) closed(layer int) bool {
	for _, r := range w.Roots {
		if !w.overlay.covered(path.Join(r, "x"), layer) {
			return false
		}
	}
	return true
}

func (w *walker) wants(p string) bool {
	for _, r := range w.Roots {
		if p == r || strings.HasPrefix(p, r+"/") {
			return true
		}
	}
	return false
}

// entry takes one entry in. Of a closed layer, only links elsewhere matter.
func (w *walker) entry(layer int, closed bool, h *tar.Header, r io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // package tar and the engines that use it ignore it
	}
	p, wrong := entryName(h.Name)
	if n := max(len(h.Name), len(h.Linkname)); n > maxPath {
		return &LimitError{printable.Quote(p), fmt.Sprintf("a path of %d bytes", n), fmt.Sprintf("%d bytes", maxPath)}
	}
	inside := w.wants(p)
	if !inside {
		w.outside.note(p, h)
	}
	switch {
	case closed:
		return nil
	case wrong != "" && (inside || strings.Contains(wrong, "..")):
		return w.unsafe(h.Name, wrong)
	case !inside && w.wants(strings.ReplaceAll(p, `\`, "/")):
		return w.unsafe(h.Name, `a backslash in the path, which Windows reads as a separator`)
	case inside:
		limit := w.budget.MaxEntries
		if w.entries++; w.entries > limit || len(w.overlay.nodes) > 4*limit {
			return &LimitError{"/" + w.Roots[0], "more entries and folders than that", fmt.Sprintf("%d entries", limit)}
		}
	}
	if target, opaque, ok := whiteoutOf(p); ok {
		return w.whiteout(p, target, opaque, layer)
	}
	if !inside {
		return nil
	}
	return w.place(layer, p, h, r)
}

func (w *walker) whiteout(p, target string, opaque bool, layer int) error {
	switch {
	case opaque && (target == "" || w.wants(target)):
		w.overlay.hide(target+"/", layer)
	case opaque || !w.wants(target) || w.overlay.covered(target, layer):
	default:
		if w.overlay.seen[target] {
			if err := w.hides(p, target); err != nil {
				return err
			}
		}
		w.overlay.whiteouts[target] = true
		w.overlay.hide(target, layer)
	}
	return nil
}

// place checks and merges an entry of a root, and visits it where a container would
// see it.
func (w *walker) place(layer int, p string, h *tar.Header, r io.Reader) error {
	kind := unsafeKind(h)
	for _, wrong := range []string{winname.Check(p), privileged(h), kind} {
		if wrong == "" {
			continue
		}
		if err := w.unsafe(p, wrong); err != nil {
			return err
		}
	}
	if wh, ok := w.overlay.hiddenBy(p); ok {
		delete(w.overlay.whiteouts, wh) // one finding for each whiteout
		if err := w.hides(path.Join(path.Dir(wh), whiteout+path.Base(wh)), p); err != nil {
			return err
		}
	}
	visible, wrong := w.overlay.add(p, node{layer, h.Typeflag, h.Linkname, h.Mode, h.Uid, h.Gid})
	switch {
	case wrong != "":
		return w.unsafe(p, wrong)
	case !visible:
	case h.Typeflag == tar.TypeDir:
		return w.visit(newEntry(h, p, nil, w.budget))
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		w.links = append(w.links, p)
	case h.Typeflag == tar.TypeReg && kind == "":
		return w.file(newEntry(h, p, r, w.budget))
	}
	return nil
}

func (w *walker) file(e *Entry) error {
	if limit := w.budget.MaxFile; e.Size > limit {
		return &LimitError{e.Path, fmt.Sprintf("a file of %d bytes", e.Size), fmt.Sprintf("%d bytes a file", limit)}
	}
	return w.visit(e)
}

func (w *walker) unsafe(object, what string) error {
	return w.Unsafe(Unsafe{Object: object, Observed: what, Expected: "regular files and folders with plain names"})
}

func (w *walker) hides(whiteout, object string) error {
	return w.Unsafe(Unsafe{Hides: true, Object: whiteout, Observed: "hides " + object + " of the same layer", Expected: "whiteouts of what the layer doesn't bring"})
}
