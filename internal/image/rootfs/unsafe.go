package rootfs

import (
	"archive/tar"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
)

// entryName cleans a tar entry's name and says what is wrong with it. Names are
// cleaned as container engines do it, by joining them to the root, so that a
// crooked name is seen where it would land.
func entryName(name string) (clean, wrong string) {
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	switch {
	case strings.HasPrefix(name, "/"):
		return clean, "an absolute path"
	case strings.Contains("/"+name+"/", "/../"):
		return clean, `".." in the path`
	}
	return clean, ""
}

// unsafeKind says why an entry of a payload must not be there, by its type and
// mode bits.
func unsafeKind(h *tar.Header) string {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink:
	case tar.TypeChar, tar.TypeBlock:
		return fmt.Sprintf("a device (%d, %d)", h.Devmajor, h.Devminor)
	case tar.TypeFifo:
		return "a named pipe"
	default:
		return fmt.Sprintf("a tar entry of type %q", h.Typeflag)
	}
	for _, k := range slices.Sorted(maps.Keys(h.PAXRecords)) {
		// Not all bytes of a sparse file are in the archive:
		// https://www.gnu.org/software/tar/manual/html_node/Sparse-Formats.html
		if strings.HasPrefix(k, "GNU.sparse.") {
			return "a sparse file"
		}
		if slices.ContainsFunc(overlayMarks, func(p string) bool { return strings.HasPrefix(k, p) }) {
			return "the extended attribute " + printable.Quote(strings.TrimPrefix(k, xattrRecord))
		}
	}
	return ""
}

const xattrRecord = "SCHILY.xattr."

// overlayMarks begin the attributes in which overlay file systems keep whiteouts
// and redirects: https://docs.kernel.org/filesystems/overlayfs.html
var overlayMarks = []string{xattrRecord + "trusted.overlay.", xattrRecord + "user.overlay.", xattrRecord + "user.fuseoverlayfs."}

// privileged says which privileges an entry would give to the one who runs it.
func privileged(h *tar.Header) string {
	switch {
	case h.Mode&0o4000 != 0:
		return fmt.Sprintf("setuid, mode %04o", h.Mode&0o7777)
	case h.Mode&0o2000 != 0:
		return fmt.Sprintf("setgid, mode %04o", h.Mode&0o7777)
	case h.PAXRecords[xattrRecord+"security.capability"] != "":
		return "file capabilities"
	}
	return ""
}
