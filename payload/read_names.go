package payload

import (
	"archive/tar"
	"fmt"
	"path"
	"strings"
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
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return "a sparse file"
		}
	}
	return ""
}

// privileged says which privileges an entry would give to whoever runs it.
func privileged(h *tar.Header) string {
	switch {
	case h.Mode&0o4000 != 0:
		return fmt.Sprintf("setuid, mode %04o", h.Mode&0o7777)
	case h.Mode&0o2000 != 0:
		return fmt.Sprintf("setgid, mode %04o", h.Mode&0o7777)
	case h.PAXRecords["SCHILY.xattr.security.capability"] != "":
		return "file capabilities"
	}
	return ""
}
