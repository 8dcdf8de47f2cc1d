package payload

import (
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
)

// Check tells whether WMCO and Windows can take the tree: a known format,
// clean relative paths that are valid on Windows, no file where another needs
// a folder, nothing in the place of what the format adds, sums and contents
// given, and no two files with the same base name.
//
// Base names must be unique whatever the folder and the case: the operator
// keys its checksums by base name and refuses to start on a second one, and
// Windows doesn't tell Kubelet.exe from kubelet.exe. See parseShaFile in
// https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/nodeconfig/payload/payload.go
//
// The error is a list of everything that is wrong, one line each.
func (t *Tree) Check() error {
	var wrong []string
	if t.Format != Flat && t.Format != Archived {
		wrong = append(wrong, fmt.Sprintf("format %q: neither %s nor %s", t.Format, Flat, Archived))
	}
	if len(t.Files) == 0 {
		wrong = append(wrong, "no files")
	}
	files := t.Sorted()
	for _, f := range files {
		if what := f.check(); what != "" {
			wrong = append(wrong, fmt.Sprintf("%q: %s", f.Path, what))
		}
	}
	files = slices.DeleteFunc(files, func(f File) bool { return checkPath(f.Path) != "" })
	wrong = append(wrong, clashes(files)...)
	if len(wrong) == 0 {
		return nil
	}
	return &fault.Error{
		What:    "the files don't make a payload",
		Excerpt: strings.Join(wrong, "\n"),
		Fix:     "change the payload paths in versions.yaml",
	}
}

func (f File) check() string {
	if what := checkPath(f.Path); what != "" {
		return what
	}
	if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != 32 || f.SHA256 != strings.ToLower(f.SHA256) {
		return fmt.Sprintf("sha256 %q: not 64 lower-case hex digits", f.SHA256)
	}
	if f.Size < 0 {
		return "negative size"
	}
	if f.Open == nil {
		return "no content"
	}
	return ""
}

// checkPath says what is wrong with a path below Root; empty when it is fine.
func checkPath(p string) string {
	if p == "" || path.IsAbs(p) || path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../") {
		return "not a clean relative path"
	}
	// Two spaces part sum and name in a sha256sum file, and the operator
	// splits at every pair of them.
	if strings.Contains(p, "  ") {
		return "two spaces in a row"
	}
	if what := windowsName(p); what != "" {
		return what
	}
	first, _, _ := strings.Cut(p, "/")
	if strings.EqualFold(first, GeneratedName) {
		return GeneratedName + "/ belongs to the operator"
	}
	if strings.EqualFold(first, SumsName) {
		return SumsName + " is the checksum file's place"
	}
	return ""
}

// checkName applies the rules of Windows for file names:
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func checkName(name string) string {
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`<>:"\|?*`, r) }); i >= 0 {
		return fmt.Sprintf("character %q isn't allowed on Windows", name[i])
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return "a name that ends in a dot or a space isn't allowed on Windows"
	}
	if strings.HasPrefix(name, whiteoutPrefix) {
		return whiteoutPrefix + " is an image layer's mark for a deleted file"
	}
	return ""
}

// clashes finds equal base names, and files in the place of a folder. files
// are sorted and their paths are fine.
func clashes(files []File) []string {
	var wrong []string
	base := map[string]string{}
	whole := map[string]string{}
	for _, f := range files {
		key := strings.ToLower(path.Base(f.Path))
		if other, ok := base[key]; ok {
			wrong = append(wrong, fmt.Sprintf("%q: same base name as %q", f.Path, other))
		}
		base[key] = f.Path
		whole[strings.ToLower(f.Path)] = f.Path
	}
	for _, f := range files {
		for _, d := range parents(strings.ToLower(f.Path)) {
			if other, ok := whole[d]; ok {
				wrong = append(wrong, fmt.Sprintf("%q: below the file %q", f.Path, other))
			}
		}
	}
	return wrong
}

// parents returns the folders above a clean relative path, the outermost
// first.
func parents(p string) []string {
	var dirs []string
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		dirs = append(dirs, d)
	}
	slices.Reverse(dirs)
	return dirs
}
