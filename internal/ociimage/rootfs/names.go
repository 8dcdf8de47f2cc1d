package rootfs

import (
	"archive/tar"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/tarentry"
)

const (
	// maxPath is how long a path may be in bytes: Linux's own PATH_MAX.
	maxPath = 4096
	// maxParts is how many folders within each other a path may name.
	maxParts = 255
)

// sane refuses paths that no file system holds and that cost time to follow.
func sane(h *tar.Header) error {
	for _, p := range []string{h.Name, h.Linkname} {
		if n := len(p); n > maxPath {
			return &LimitError{printable.Quote(p), fmt.Sprintf("a path of %d bytes", n), fmt.Sprintf("%d bytes", maxPath)}
		}
		if n := strings.Count(p, "/"); n > maxParts {
			return &LimitError{printable.Quote(p), fmt.Sprintf("a path of %d parts", n+1), fmt.Sprintf("%d parts", maxParts)}
		}
	}
	return nil
}

func longHeader(object string) *LimitError {
	return &LimitError{object, fmt.Sprintf("a tar header of more than %d bytes", tarentry.MaxHeader), fmt.Sprintf("%d bytes", tarentry.MaxHeader)}
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
	if tarentry.Sparse(h) {
		return "a sparse file"
	}
	for _, k := range slices.Sorted(maps.Keys(h.PAXRecords)) {
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

// capabilityRecord is the PAX record of file capabilities.
const capabilityRecord = xattrRecord + "security.capability"

// privileged says which privileges an entry would give to whoever runs it.
func privileged(h *tar.Header) string {
	switch {
	case h.Mode&0o4000 != 0:
		return fmt.Sprintf("setuid, mode %04o", h.Mode&0o7777)
	case h.Mode&0o2000 != 0:
		return fmt.Sprintf("setgid, mode %04o", h.Mode&0o7777)
	case h.PAXRecords[capabilityRecord] != "":
		return "file capabilities"
	}
	return ""
}
