// Package rootfs is the file system of an image as a container sees it: layers
// merged from the top, whiteouts honoured, nothing unpacked to disk. It refuses
// what would be unpacked elsewhere, hidden or run with more rights, and images
// beyond its limits.
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
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/base/winname"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/tarentry"
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
// as a container would see it: layers are merged and whiteouts honoured. Layers
// are read once each, from the top, and those below an opaque whiteout not at
// all, unless a layer above has files in other folders, which may be links down
// there; nothing is unpacked to disk. The order is that of the layers, links come
// last. Without an image it visits the source's folder.
//
// A *LimitError ends the walk, as does an error of visit, and a source that
// contradicts its digests. A layer's bytes are only known to be right when
// WalkImage has returned nil.
func WalkImage(ctx context.Context, s *oci.Source, img v1.Image, opts Options, visit func(*Entry) error) (Layers, error) {
	w := &walker{
		source: s, roots: opts.Roots, visit: visit, problem: opts.Unsafe, enough: opts.Enough,
		budget: &budget{limits: opts.Limits.withDefaults()}, overlay: newOverlay(), detours: newDetours(),
	}
	if w.problem == nil {
		w.problem = w.refuse
	}
	if img == nil {
		return w.dir(ctx, s.Name, opts.Progress)
	}
	layers, err := newImageLayers(s, img, w.budget, opts.Progress)
	if err != nil {
		return Layers{}, err
	}
	return w.run(ctx, layers)
}

// refuse ends a walk that nobody judges.
func (w *walker) refuse(u Unsafe) error {
	return &fault.Error{
		What: u.Observed, Where: w.source.Name + ": " + u.Object, Code: finding.ExitBlock,
		Fix: "take the image from where it was built: these bytes aren't its builder's",
	}
}

// entrySource streams the entries of numbered layers.
type entrySource interface {
	count() int
	eachEntry(ctx context.Context, layer int, fn func(*tar.Header, io.Reader) error) error
	skip(layer int)
}

type walker struct {
	source  *oci.Source
	roots   []string
	budget  *budget
	visit   func(*Entry) error
	problem func(Unsafe) error // nil to go on
	enough  func() bool

	layers  entrySource
	overlay *overlay
	detours *detours
	entries int
	links   []string
}

func (w *walker) run(ctx context.Context, layers entrySource) (Layers, error) {
	w.layers = layers
	n := Layers{All: layers.count()}
	for i := n.All - 1; i >= 0; i-- {
		closed := w.closed(i)
		if closed && !w.detours.any() {
			layers.skip(i)
			continue
		}
		n.Read++
		w.overlay.begin(i)
		err := layers.eachEntry(ctx, i, func(h *tar.Header, r io.Reader) error {
			if closed {
				return w.hiddenEntry(h)
			}
			return w.entry(ctx, i, h, r)
		})
		if err != nil || w.enough != nil && w.enough() {
			return n, err
		}
	}
	return n, w.finish(ctx)
}

// finish judges the links, once all layers were read.
func (w *walker) finish(ctx context.Context) error {
	found, err := w.detours.found(ctx, w.roots)
	if err != nil {
		return err
	}
	for _, l := range found {
		if err := w.unsafe(l, "a link into "+w.roots[0]+" that entries are written through"); err != nil {
			return err
		}
	}
	return w.resolveLinks(ctx)
}

// closed tells whether nothing of layer i can be seen in any root.
func (w *walker) closed(i int) bool {
	for _, r := range w.roots {
		if !w.overlay.covered(path.Join(r, "x"), i) {
			return false
		}
	}
	return true
}

func (w *walker) wants(p string) bool {
	for _, r := range w.roots {
		if p == r || strings.HasPrefix(p, r+"/") {
			return true
		}
	}
	return false
}

// hiddenEntry takes an entry of a layer in of which no root shows anything: it
// may still be a link that a layer above wrote through.
func (w *walker) hiddenEntry(h *tar.Header) error {
	if err := sane(h); err != nil {
		return err
	}
	if p, _ := tarentry.Name(h.Name); !w.wants(p) && h.Typeflag != tar.TypeXGlobalHeader {
		return w.detour(p, h)
	}
	return nil
}

func (w *walker) entry(ctx context.Context, layer int, h *tar.Header, r io.Reader) error {
	if err := sane(h); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // package tar and the engines that use it ignore it
	}
	p, wrong := tarentry.Name(h.Name)
	if !w.wants(p) {
		if err := w.detour(p, h); err != nil {
			return err
		}
	}
	if wrong != "" && (w.wants(p) || strings.Contains(wrong, "..")) {
		return w.unsafe(h.Name, wrong)
	}
	if w.wants(p) {
		if err := w.count(); err != nil {
			return err
		}
	}
	if target, opaque, ok := whiteoutOf(p); ok {
		return w.whiteout(p, target, opaque, layer)
	}
	if !w.wants(p) {
		if strings.Contains(p, `\`) && w.wants(strings.ReplaceAll(p, `\`, "/")) {
			return w.unsafe(h.Name, `a backslash in the path, which Windows reads as a separator`)
		}
		return nil
	}
	return w.place(ctx, layer, p, h, r)
}

// count bounds the entries of the roots, which are kept. Each may name many
// folders that have no entry of their own.
func (w *walker) count() error {
	limit := w.budget.limits.MaxEntries
	if w.entries++; w.entries > limit || w.overlay.size() > 4*limit+maxParts {
		return &LimitError{"/" + w.roots[0], "more entries and folders than that", fmt.Sprintf("%d entries", limit)}
	}
	return nil
}

func (w *walker) detour(p string, h *tar.Header) error {
	if h.Typeflag == tar.TypeSymlink {
		return w.detours.note(p, h.Linkname)
	}
	return w.detours.note(p, "")
}

func (w *walker) whiteout(p, target string, opaque bool, layer int) error {
	switch {
	case opaque && (target == "" || w.wants(target)):
		w.overlay.addOpaque(target, layer)
	case opaque || !w.wants(target):
	case w.overlay.covered(target, layer):
	default:
		if w.overlay.entries[target] {
			if err := w.hides(p, target); err != nil {
				return err
			}
		}
		w.overlay.addWhiteout(target, layer)
	}
	return nil
}

// place checks and merges an entry of a root.
func (w *walker) place(ctx context.Context, layer int, p string, h *tar.Header, r io.Reader) error {
	for _, wrong := range []string{winname.Check(p), privileged(h), unsafeKind(h)} {
		if wrong == "" {
			continue
		}
		if err := w.unsafe(p, wrong); err != nil {
			return err
		}
	}
	if wh, ok := w.overlay.hiddenBy(p); ok {
		delete(w.overlay.whiteouts, wh) // one finding for each whiteout
		if err := w.hides(path.Join(tarentry.Parent(wh), whiteout+path.Base(wh)), p); err != nil {
			return err
		}
	}
	switch w.overlay.Add(p, node{layer, h.Typeflag, h.Linkname, h.Mode, h.Uid, h.Gid}) {
	case duplicate:
		return w.unsafe(p, "twice in one layer")
	case underFile:
		return w.unsafe(p, "a file or link in the place of a folder of the same layer")
	case hidden:
		if _, taken := w.overlay.nodes[p]; h.Typeflag == tar.TypeSymlink && !taken && w.overlay.implied[p] != 0 {
			return w.unsafe(p, "a link that an upper layer writes through")
		}
		return nil
	case visible:
	}
	return w.see(ctx, p, h, r)
}

// see visits an entry that a container would see.
func (w *walker) see(ctx context.Context, p string, h *tar.Header, r io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return w.visit(newEntry(h, p))
	case tar.TypeSymlink, tar.TypeLink:
		w.links = append(w.links, p)
	case tar.TypeReg:
		if unsafeKind(h) == "" {
			return w.file(ctx, newEntry(h, p), r)
		}
	}
	return nil
}

func (w *walker) file(ctx context.Context, e *Entry, r io.Reader) error {
	if limit := w.budget.limits.MaxFile; e.Size > limit {
		return &LimitError{e.Path, fmt.Sprintf("a file of %d bytes", e.Size), fmt.Sprintf("%d bytes a file", limit)}
	}
	e.Content, e.ctx, e.budget = r, ctx, w.budget
	defer e.close()
	return w.visit(e)
}

func (w *walker) unsafe(object, what string) error {
	return w.problem(Unsafe{Object: object, Observed: what, Expected: "regular files and folders with plain names"})
}

func (w *walker) hides(whiteout, object string) error {
	return w.problem(Unsafe{Hides: true, Object: whiteout, Observed: "hides " + object + " of the same layer", Expected: "whiteouts of what the layer doesn't bring"})
}

func (w *walker) dir(ctx context.Context, name string, tell stream.Progress) (n Layers, err error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return n, oci.Unreadable(name, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return w.run(ctx, &dirEntries{name: name, top: w.roots[0], root: root, tell: tell})
}
