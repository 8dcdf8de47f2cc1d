package rootfs

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	// maxLinks bounds the links of one image: each may cost another reading of a
	// layer. Payloads have none.
	maxLinks = 64
	// maxLinkHops ends a chain of links, as Linux does.
	maxLinkHops = 40
)

// visitLinks visits the links of the merged tree with the content of their
// targets. They come last since a target may be in a lower layer than its
// link; reading those layers again is what it costs.
func (w *walker) visitLinks(ctx context.Context) error {
	slices.Sort(w.links)
	if len(w.links) > maxLinks {
		return &LimitError{"/" + w.Roots[0], fmt.Sprintf("%d links", len(w.links)), fmt.Sprintf("%d links", maxLinks)}
	}
	for _, l := range w.links {
		at, wrong := w.target(l)
		var err error
		if wrong != "" {
			err = w.unsafe(l, wrong)
		} else {
			err = w.visitTarget(ctx, l, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// target follows a link to a regular file, or says why it can't.
func (w *walker) target(p string) (at place, wrong string) {
	for range maxLinkHops {
		n, ok := w.overlay.nodes[p]
		switch {
		case !ok:
			return at, "a link to " + p + ", which isn't there"
		case n.kind == tar.TypeReg:
			return place{n.layer, p}, ""
		case n.kind == tar.TypeLink:
			return w.hardTarget(n)
		case n.kind != tar.TypeSymlink:
			return at, "a link to " + p + ", which isn't a file"
		}
		if p = linkTarget(p, n.link); !w.wants(p) {
			return at, "a link out of " + w.Roots[0] + ", to " + n.link
		}
	}
	return at, "a link that leads in a circle"
}

// linkTarget is where a symbolic link leads within the image.
func linkTarget(p, link string) string {
	if !path.IsAbs(link) {
		link = path.Join("/", path.Dir(p), link)
	}
	return strings.TrimPrefix(path.Clean(link), "/")
}

// hardTarget finds the file that a hard link names: in its own layer, or in
// what the layers below make.
func (w *walker) hardTarget(n node) (at place, wrong string) {
	p, wrong := entryName(n.link)
	if wrong != "" || !w.wants(p) {
		return at, "a hard link out of " + w.Roots[0] + ", to " + n.link
	}
	for layer := n.layer; layer >= 0; layer-- {
		if at := (place{layer, p}); w.overlay.files[at] {
			return at, ""
		}
	}
	return at, "a hard link to " + p + ", which isn't there"
}

// visitTarget reads a layer again for what a link leads to.
func (w *walker) visitTarget(ctx context.Context, link string, at place) error {
	found := false
	err := w.layers.each(ctx, at.layer, func(h *tar.Header, r io.Reader) error {
		if p, _ := entryName(h.Name); p != at.path || h.Typeflag != tar.TypeReg || found {
			return nil
		}
		found = true
		e := newEntry(h, link, r, w.budget)
		e.Link = at.path
		return w.file(e)
	})
	if err == nil && !found { // a folder that changes while it is read
		return fmt.Errorf("read the target of the link %s in %s again: not there", link, w.source.Name)
	}
	return err
}

// outside finds entries that land in a root although their names don't say
// so: with a link data -> payload in one layer, data/x.exe of another is
// written to payload/x.exe by engines that follow links.
type outside struct {
	links map[string]string // symbolic links outside of the roots, and where each leads
	dirs  map[string]bool   // folders outside that have entries
}

func newOutside() *outside { return &outside{links: map[string]string{}, dirs: map[string]bool{}} }

func (o *outside) note(p string, h *tar.Header) {
	if h.Typeflag == tar.TypeSymlink {
		o.links[p] = linkTarget(p, h.Linkname)
	}
	for i, c := range p {
		if c == '/' {
			o.dirs[p[:i]] = true
		}
	}
}

// into lists the links that have entries below them and lead to a root, to what
// is in it, or to the top of the image.
func (o *outside) into(wants func(string) bool) (all []string) {
	for _, l := range slices.Sorted(maps.Keys(o.links)) {
		if to := o.resolve(l); o.dirs[l] && (to == "" || wants(to)) {
			all = append(all, l)
		}
	}
	return all
}

// resolve follows the links on the way to p.
func (o *outside) resolve(p string) string {
	for range maxLinkHops {
		i := slices.IndexFunc(append(above(p), p), func(d string) bool { _, is := o.links[d]; return is })
		if i < 0 {
			return p
		}
		link := append(above(p), p)[i]
		p = strings.TrimPrefix(path.Join("/", o.links[link], strings.TrimPrefix(p, link)), "/")
	}
	return p
}
