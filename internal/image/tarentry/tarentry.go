// Package tarentry reads the names of tar entries, of layers and of image
// tarballs, as container engines do.
package tarentry

import (
	"archive/tar"
	"path"
	"strings"
)

// Name cleans a tar entry's name and says what is wrong with it. Names
// are cleaned as container engines do it, by joining them to the root, so that
// a crooked name is seen where it would land.
func Name(name string) (clean, wrong string) {
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	switch {
	case strings.HasPrefix(name, "/"):
		return clean, "an absolute path"
	case strings.HasPrefix(name, "../"), strings.Contains(name, "/../"), strings.HasSuffix(name, "/.."), name == "..":
		return clean, `".." in the path`
	}
	return clean, ""
}

// MaxHeader is how long the PAX records or the name before an entry may be:
// package tar reads no longer ones (its ErrFieldTooLong), since it holds them in
// memory.
const MaxHeader = 1 << 20

// Sparse tells whether an entry is one of GNU's sparse files, whose bytes aren't
// all in the archive: https://www.gnu.org/software/tar/manual/html_node/Sparse-Formats.html
func Sparse(h *tar.Header) bool {
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// Above yields the folders above p, the root "" last.
func Above(p string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for p != "" {
			p = Parent(p)
			if !yield(p) {
				return
			}
		}
	}
}

// Parent is the folder that p is in, "" for the root.
func Parent(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

// MaxLinkHops ends a chain of links in a tarball or a layer, as many as Linux
// follows.
const MaxLinkHops = 40
