package rootfs

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/tarentry"
)

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
