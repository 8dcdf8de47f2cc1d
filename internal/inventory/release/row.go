package release

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

var (
	commitURL = regexp.MustCompile(`^(https://.+)/commit/([0-9a-f]{40})$`)
	digest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// tag reads the cells of a row after its name; false when they aren't whole.
func (c columns) tag(name string, cells []string) (tag inventory.PayloadTag, ok bool) {
	tag.Name = name
	switch c {
	case digests:
		tag.Image, ok = digestCell(cells)
	case pullSpecs:
		tag.Image, ok = pullSpecCell(cells)
	case commits:
		tag.Source, tag.Commit, ok = commitCells(cells)
	case commitURLs:
		tag.Source, tag.Commit, ok = urlCells(cells)
	case noColumns, sizes:
	}
	return tag, ok
}

// digestCell reads a digest; oc prints the pull spec of an image that has none.
func digestCell(cells []string) (inventory.Image, bool) {
	if len(cells) == 1 && digest.MatchString(cells[0]) {
		return inventory.Image{Reference: cells[0], Digest: cells[0]}, true
	}
	return pullSpecCell(cells)
}

func pullSpecCell(cells []string) (inventory.Image, bool) {
	if len(cells) != 1 || strings.HasPrefix(cells[0], "sha256:") {
		return inventory.Image{}, false
	}
	i := imageOf(cells[0])
	return i, i.Repository != ""
}

// commitCells reads REPO and COMMIT; either may be empty.
func commitCells(cells []string) (source, commit string, ok bool) {
	switch len(cells) {
	case 0:
		return "", "", true
	case 1:
		if c := fullCommit(cells[0]); c != "" {
			return "", c, true
		}
		return cells[0], "", strings.Contains(cells[0], "://")
	case 2:
		c := fullCommit(cells[1])
		return cells[0], c, c != ""
	}
	return "", "", false
}

// urlCells reads a link to the commit, or for a repository outside of GitHub
// its place and the commit.
func urlCells(cells []string) (source, commit string, ok bool) {
	if len(cells) == 1 {
		if m := commitURL.FindStringSubmatch(cells[0]); m != nil {
			return m[1], m[2], true
		}
	}
	source, commit, ok = commitCells(cells)
	return source, commit, ok && commit != ""
}
