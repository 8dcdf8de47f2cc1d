package payload

import (
	"archive/tar"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// entryName cleans a tar entry's name and says what is wrong with it. Names
// are cleaned as container engines do it, by joining them to the root, so that
// a crooked name is seen where it would land.
func entryName(name string) (clean, wrong string) {
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	switch {
	case strings.HasPrefix(name, "/"):
		return clean, "an absolute path"
	case strings.HasPrefix(name, "../"), strings.Contains(name, "/../"), strings.HasSuffix(name, "/.."), name == "..":
		return clean, `".." in the path`
	}
	return clean, ""
}

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
			return &LimitError{shorten(p), fmt.Sprintf("a path of %d bytes", n), fmt.Sprintf("%d bytes", maxPath)}
		}
		if n := strings.Count(p, "/"); n > maxParts {
			return &LimitError{shorten(p), fmt.Sprintf("a path of %d parts", n+1), fmt.Sprintf("%d parts", maxParts)}
		}
	}
	return nil
}

// maxHeader is how long the PAX records or the name before an entry may be:
// package tar reads no longer ones (its ErrFieldTooLong), since it holds them in
// memory.
const maxHeader = 1 << 20

func longHeader(object string) *LimitError {
	return &LimitError{object, fmt.Sprintf("a tar header of more than %d bytes", maxHeader), fmt.Sprintf("%d bytes", maxHeader)}
}

// windowsName says why a name can't stand for a file on a Windows node, or
// would stand for another one:
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func windowsName(p string) string {
	for part := range strings.SplitSeq(p, "/") {
		if wrong := checkName(part); wrong != "" {
			return wrong
		}
		stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
		if reservedNames[stem] {
			return stem + " is a device on Windows"
		}
	}
	return ""
}

var reservedNames = func() map[string]bool {
	m := map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true}
	for i := '1'; i <= '9'; i++ {
		m["COM"+string(i)], m["LPT"+string(i)] = true, true
	}
	return m
}()

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
	if isSparse(h) {
		return "a sparse file"
	}
	return ""
}

// plainRecords are the PAX records that honest tools write into layers and
// archives: what ustar has too, in more digits, and times and numbers of the
// builder's own disk that nobody reads.
var plainRecords = map[string]bool{
	"path": true, "linkpath": true, "size": true, "uid": true, "gid": true, "uname": true, "gname": true,
	"mtime": true, "atime": true, "ctime": true, "comment": true, "LIBARCHIVE.creationtime": true,
	"SCHILY.dev": true, "SCHILY.ino": true, "SCHILY.nlink": true,
	"SCHILY.fflags": true, "RHT.security.selinux": true,
}

// plainPrefixes begin records that engines drop: access lists, and what macOS
// keeps beside every file.
var plainPrefixes = []string{"SCHILY.acl.", "LIBARCHIVE.xattr.com.apple.", xattrRecord + "com.apple."}

const (
	xattrRecord      = "SCHILY.xattr."
	capabilityRecord = xattrRecord + "security.capability" // privileged judges it
)

// plainXattrs are extended attributes that container engines keep and that
// don't change what a file is: labels, signatures of its bytes.
var plainXattrs = map[string]bool{"security.capability": true, "security.evm": true, "security.ima": true, "security.selinux": true}

// fileSystems are what engines' own file systems keep of files in attributes of
// the user: overlayfs mounted with userxattr, fuse-overlayfs.
var fileSystems = []string{"user.overlay.", "user.fuseoverlayfs.", "user.containers."}

// strangeRecord names a PAX record that lets one reader see another file than
// the next does: overlayfs's redirects and opaque marks, the holes and types of
// libarchive, which is the tar.exe of Windows.
func strangeRecord(h *tar.Header) string {
	for _, k := range slices.Sorted(maps.Keys(h.PAXRecords)) {
		name, isXattr := strings.CutPrefix(k, xattrRecord)
		switch {
		case slices.ContainsFunc(plainPrefixes, func(p string) bool { return strings.HasPrefix(k, p) }):
		case k == "hdrcharset" && isASCII(h.Name+h.Linkname): // Go's reader doesn't heed it, libarchive does
		case isXattr && plainXattr(name):
		case isXattr:
			return "the extended attribute " + shorten(name)
		case plainRecords[k]:
		default:
			return "the PAX record " + shorten(k)
		}
	}
	return ""
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

func plainXattr(name string) bool {
	return plainXattrs[name] || strings.HasPrefix(name, "user.") &&
		!slices.ContainsFunc(fileSystems, func(p string) bool { return strings.HasPrefix(name, p) })
}

func isSparse(h *tar.Header) bool {
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return true
		}
	}
	return false
}

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
