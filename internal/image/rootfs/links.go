package rootfs

import (
	"archive/tar"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/image/tarentry"
)

// maxLinks bounds the links of one image: each may cost another reading of a
// layer. Payloads have none.
const maxLinks = 64

// place says in which layer a file's content stands, under which name.
type place struct {
	layer int
	path  string
}

// resolveLinks visits the links of the merged tree with the content of their
// targets. They come last since a target may stand in a lower layer than its
// link; reading those layers again is what it costs.
func (w *walker) resolveLinks(ctx context.Context) error {
	slices.Sort(w.links)
	if len(w.links) > maxLinks {
		return &LimitError{"/" + w.roots[0], fmt.Sprintf("%d links", len(w.links)), fmt.Sprintf("%d links", maxLinks)}
	}
	pending := map[place][]string{}
	for _, l := range w.links {
		at, wrong := w.target(l)
		if wrong == "" {
			pending[at] = append(pending[at], l)
			continue
		}
		if err := w.unsafe(l, wrong); err != nil {
			return err
		}
	}
	for len(pending) > 0 {
		if err := w.visitTargets(ctx, pending); err != nil {
			return err
		}
	}
	return nil
}

// target follows a link to a regular file, or says why it can't.
func (w *walker) target(p string) (at place, wrong string) {
	for range tarentry.MaxLinkHops {
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
		next := n.link
		if !path.IsAbs(next) {
			next = path.Join("/"+tarentry.Parent(p), next)
		}
		next = strings.TrimPrefix(path.Clean(next), "/")
		if !w.wants(next) {
			return at, "a link out of " + w.roots[0] + ", to " + n.link
		}
		p = next
	}
	return at, "a link that leads in a circle"
}

// hardTarget finds the file that a hard link names: in its own layer, or in
// what the layers below make.
func (w *walker) hardTarget(n node) (at place, wrong string) {
	p, wrong := tarentry.Name(n.link)
	if wrong != "" || !w.wants(p) {
		return at, "a hard link out of " + w.roots[0] + ", to " + n.link
	}
	for layer := n.layer; layer >= 0; layer-- {
		if w.overlay.files[layer][p] {
			return place{layer, p}, ""
		}
	}
	return at, "a hard link to " + p + ", which isn't there"
}

// visitTargets reads one layer and visits one link for each target in it.
func (w *walker) visitTargets(ctx context.Context, pending map[place][]string) error {
	layer := -1
	for at := range pending {
		layer = max(layer, at.layer)
	}
	seen := 0
	err := w.layers.eachEntry(ctx, layer, func(h *tar.Header, r io.Reader) error {
		p, _ := tarentry.Name(h.Name)
		at := place{layer, p}
		links := pending[at]
		if len(links) == 0 || h.Typeflag != tar.TypeReg {
			return nil
		}
		if pending[at] = links[1:]; len(links) == 1 {
			delete(pending, at)
		}
		seen++
		e := newEntry(h, links[0])
		e.Link = p
		return w.file(ctx, e, r)
	})
	if err == nil && seen == 0 { // a folder that changes while it is read
		return fmt.Errorf("read the targets of links in %s again: not there", w.source.Name)
	}
	return err
}

// detours finds entries that land in a root although their names don't say
// so: with a link data -> payload in one layer, data/x.exe of another is
// written to payload/x.exe by engines that follow links, and by none to where
// overlay would see it. No builder makes such layers.
type detours struct {
	seed  maphash.Seed
	links map[string]string   // symbolic links outside of the roots
	dirs  map[uint64]struct{} // hashed folders outside that have entries
	size  int                 // bytes of links
}

const (
	// maxDetours bounds the memory: ten times the folders of a large image.
	maxDetours = 1_000_000
	// maxDetourBytes bounds what the names and targets of links take. The
	// links of a large image take less than a megabyte.
	maxDetourBytes = 64 << 20
)

// any tells whether anything lies in a folder outside of the roots.
func (d *detours) any() bool { return len(d.dirs) > 1 } // the first is the image's root

func newDetours() *detours {
	return &detours{seed: maphash.MakeSeed(), links: map[string]string{}, dirs: map[uint64]struct{}{}}
}

// note takes an entry in; link is its target when it is a symbolic link.
func (d *detours) note(p, link string) error {
	if link != "" {
		if !path.IsAbs(link) {
			link = path.Join("/"+tarentry.Parent(p), link)
		}
		d.links[p] = strings.TrimPrefix(path.Clean(link), "/")
		d.size += len(p) + len(link)
	}
	for dir := range tarentry.Above(p) {
		h := maphash.String(d.seed, dir)
		if _, ok := d.dirs[h]; ok {
			break
		}
		d.dirs[h] = struct{}{}
	}
	if len(d.dirs)+len(d.links) > maxDetours || d.size > maxDetourBytes {
		return &LimitError{"the image", "more folders and links than that", fmt.Sprintf("%d", maxDetours)}
	}
	return nil
}

// found lists the links that lead to or above what wants names and have
// entries below.
func (d *detours) found(ctx context.Context, roots []string) ([]string, error) {
	var all []string
	for _, l := range slices.Sorted(maps.Keys(d.links)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, below := d.dirs[maphash.String(d.seed, l)]; !below {
			continue
		}
		to := d.resolve(l)
		for _, r := range roots {
			if to == "" || to == r || strings.HasPrefix(to, r+"/") {
				all = append(all, l)
				break
			}
		}
	}
	return all, nil
}

func (d *detours) resolve(p string) string {
	for range tarentry.MaxLinkHops {
		next, ok := d.step(p)
		if !ok {
			return p
		}
		p = next
	}
	return p
}

func (d *detours) step(p string) (string, bool) {
	for i := range len(p) + 1 {
		if i < len(p) && p[i] != '/' {
			continue
		}
		if to, ok := d.links[p[:i]]; ok {
			return strings.TrimPrefix(path.Join("/", to, p[i:]), "/"), true
		}
	}
	return p, false
}
