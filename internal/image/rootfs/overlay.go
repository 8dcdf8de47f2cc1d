package rootfs

import (
	"archive/tar"
	"path"
	"strings"

	"github.com/winbake/winbake/internal/image/tarentry"
)

// Whiteouts of the OCI image spec:
// https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
const (
	whiteout       = ".wh."
	opaqueWhiteout = ".wh..wh..opq"
)

// metaPrefix begins names that AUFS keeps for itself; the opaque whiteout alone
// means something in an image:
// https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
const metaPrefix = ".wh..wh."

// node is a visible entry of the merged tree.
type node struct {
	layer int
	kind  byte // tar type flag
	link  string
	mode  int64
	uid   int
	gid   int
}

// overlay merges layers from the top down, so that each is streamed once and
// the lowest often not at all. Layers are numbered from the bottom.
//
// A path is hidden in layer n when a layer above cut it off (by a whiteout, or
// by anything that isn't a folder), or made a folder above it opaque, or has
// it itself.
type overlay struct {
	nodes   map[string]node
	cut     map[string]int // the topmost layer that hides what lies below it there
	opaque  map[string]int
	implied map[string]int // folders that are there because something is in them
	files   map[int]map[string]bool

	// of the layer that is being added
	entries   map[string]bool // entries and the folders above them
	whiteouts map[string]bool
}

func newOverlay() *overlay {
	return &overlay{
		nodes: map[string]node{}, cut: map[string]int{}, opaque: map[string]int{},
		implied: map[string]int{}, files: map[int]map[string]bool{},
	}
}

// size is how many paths are kept, but for a few.
func (o *overlay) size() int { return len(o.nodes) + len(o.implied) + len(o.entries) }

func (o *overlay) begin(layer int) {
	o.entries, o.whiteouts = map[string]bool{}, map[string]bool{}
	o.files[layer] = map[string]bool{}
}

func over(m map[string]int, p string, layer int) bool {
	l, ok := m[p]
	return ok && l > layer
}

// covered tells whether layers above hide whatever layer has at p.
func (o *overlay) covered(p string, layer int) bool {
	if over(o.cut, p, layer) {
		return true
	}
	for d := range tarentry.Above(p) {
		if over(o.cut, d, layer) || over(o.opaque, d, layer) {
			return true
		}
	}
	return false
}

type verdict int

const (
	visible verdict = iota
	hidden
	duplicate // the layer has another entry of that name, which isn't the same folder
	underFile // the layer has a file or link where this entry needs a folder
)

// Add places an entry of a layer.
func (o *overlay) Add(p string, n node) verdict {
	o.note(p)
	isDir := n.kind == tar.TypeDir
	if n.kind == tar.TypeReg {
		o.files[n.layer][p] = true
	}
	if o.covered(p, n.layer) {
		return hidden
	}
	old, taken := o.nodes[p]
	switch {
	case taken && old.layer == n.layer:
		if isDir && old == n {
			return hidden
		}
		return duplicate
	case !isDir && !taken && o.implied[p] == n.layer+1: // stored plus one
		return underFile
	}
	for d := range tarentry.Above(p) {
		if up, ok := o.nodes[d]; ok && up.layer == n.layer && up.kind != tar.TypeDir {
			return underFile
		}
	}
	if _, has := o.cut[p]; !isDir && !has {
		o.cut[p] = n.layer
	}
	if taken || !isDir && o.implied[p] != 0 {
		return hidden
	}
	o.nodes[p] = n
	for d := range tarentry.Above(p) {
		if o.implied[d] == 0 {
			o.implied[d] = n.layer + 1
		}
	}
	return visible
}

// note remembers an entry for hides.
func (o *overlay) note(p string) {
	o.entries[p] = true
	for d := range tarentry.Above(p) {
		if o.entries[d] {
			return
		}
		o.entries[d] = true
	}
}

// whiteoutOf returns what a whiteout entry hides: the folder itself when it is
// opaque. ok is false for any other entry; a target of "" with ok is a name
// that means nothing.
func whiteoutOf(p string) (target string, opaque, ok bool) {
	dir, base := tarentry.Parent(p), path.Base(p)
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

// addOpaque hides what the layers below have in dir.
func (o *overlay) addOpaque(dir string, layer int) {
	if _, has := o.opaque[dir]; !has {
		o.opaque[dir] = layer
	}
}

// addWhiteout hides p of the layers below.
func (o *overlay) addWhiteout(p string, layer int) {
	o.whiteouts[p] = true
	if _, has := o.cut[p]; !has {
		o.cut[p] = layer
	}
}

// hiddenBy returns a whiteout of the current layer that names p or a folder
// above it.
func (o *overlay) hiddenBy(p string) (string, bool) {
	if o.whiteouts[p] {
		return p, true
	}
	for d := range tarentry.Above(p) {
		if o.whiteouts[d] {
			return d, true
		}
	}
	return "", false
}
