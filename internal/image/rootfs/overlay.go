package rootfs

import (
	"archive/tar"
	"path"
	"strings"
)

// Whiteouts of the OCI image spec. Names with metaPrefix are AUFS's own; the opaque
// whiteout alone means something in an image:
// https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
const (
	whiteout       = ".wh."
	metaPrefix     = ".wh..wh."
	opaqueWhiteout = ".wh..wh..opq"
)

// node is a visible entry of the merged tree.
type node struct {
	layer int
	kind  byte // tar type flag; implied for a folder that has no entry
	link  string
	mode  int64
	uid   int
	gid   int
}

// place says in which layer a file's content is, under which name.
type place struct {
	layer int
	path  string
}

// implied is the kind of a folder that is there because something is in it.
const implied = 0

// overlay merges layers from the top down, so that each is streamed once and
// the lowest often not at all. Layers are numbered from the bottom.
//
// A path is hidden in layer n when a layer above cut it off (by a whiteout, or
// by anything that isn't a folder), or made a folder above it opaque, or has
// it itself.
type overlay struct {
	nodes map[string]node
	// hidden has the topmost layer that hides a path and what is below it, and
	// under the path with a slash the one that hides what is below it alone.
	hidden map[string]int
	files  map[place]bool // regular files of all layers, for hard links

	// of the layer that is being added
	seen      map[string]bool // entries and the folders above them
	whiteouts map[string]bool
}

func newOverlay() *overlay {
	return &overlay{nodes: map[string]node{}, hidden: map[string]int{}, files: map[place]bool{}}
}

func (o *overlay) begin() { o.seen, o.whiteouts = map[string]bool{}, map[string]bool{} }

// hide hides what the layers below have at a path, or below it where it ends in a
// slash.
func (o *overlay) hide(p string, layer int) {
	if _, has := o.hidden[p]; !has {
		o.hidden[p] = layer
	}
}

func (o *overlay) hiddenAt(p string, layer int) bool {
	top, ok := o.hidden[p]
	return ok && top > layer
}

// covered tells whether layers above hide whatever layer has at p.
func (o *overlay) covered(p string, layer int) bool {
	if o.hiddenAt(p, layer) {
		return true
	}
	for _, d := range above(p) {
		if o.hiddenAt(d, layer) || o.hiddenAt(d+"/", layer) {
			return true
		}
	}
	return false
}

// add places an entry of a layer, and tells whether it can be seen, or what is
// wrong with it.
func (o *overlay) add(p string, n node) (visible bool, wrong string) {
	o.seen[p] = true
	for _, d := range above(p) {
		o.seen[d] = true
	}
	isDir := n.kind == tar.TypeDir
	if n.kind == tar.TypeReg {
		o.files[place{n.layer, p}] = true
	}
	if o.covered(p, n.layer) {
		return false, ""
	}
	old, taken := o.nodes[p]
	same := taken && old.layer == n.layer
	switch {
	case same && old.kind != implied && !(isDir && old == n):
		return false, "twice in one layer"
	case same && !isDir, o.belowFile(p, n.layer):
		return false, "a file or link in the place of a folder of the same layer"
	case taken && n.kind == tar.TypeSymlink && old.kind == implied:
		wrong = "a link that an upper layer writes through"
	}
	if !isDir {
		o.hide(p, n.layer)
	}
	if taken && !(isDir && old.kind == implied) {
		return false, wrong
	}
	o.nodes[p] = n
	for _, d := range above(p) {
		if _, taken := o.nodes[d]; !taken {
			o.nodes[d] = node{layer: n.layer}
		}
	}
	return true, ""
}

// belowFile tells whether the layer has a file or a link where p needs a folder.
func (o *overlay) belowFile(p string, layer int) bool {
	for _, d := range above(p) {
		if up, ok := o.nodes[d]; ok && up.layer == layer && up.kind != tar.TypeDir && up.kind != implied {
			return true
		}
	}
	return false
}

// hiddenBy returns a whiteout of the current layer that names p or a folder
// above it.
func (o *overlay) hiddenBy(p string) (string, bool) {
	for _, d := range append(above(p), p) {
		if o.whiteouts[d] {
			return d, true
		}
	}
	return "", false
}

// whiteoutOf returns what a whiteout entry hides: the folder itself when it is
// opaque. ok is false for any other entry; a target of "" with ok is a name
// that means nothing.
func whiteoutOf(p string) (target string, opaque, ok bool) {
	dir, base := strings.TrimPrefix(path.Dir("/"+p), "/"), path.Base(p)
	name, ok := strings.CutPrefix(base, whiteout)
	switch {
	case !ok:
		return "", false, false
	case base == opaqueWhiteout:
		return dir, true, true
	case strings.HasPrefix(base, metaPrefix), name == "", name == ".", name == "..":
		return "", false, true
	}
	return path.Join(dir, name), false, true
}

// above lists the folders above p, the root "" first.
func above(p string) []string {
	all := []string{""}
	for i, c := range p {
		if c == '/' {
			all = append(all, p[:i])
		}
	}
	return all
}
