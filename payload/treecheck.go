package payload

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/winname"
)

// Check tells whether WMCO and Windows can take the tree: a known format,
// clean relative paths that are valid on Windows, no file where another needs
// a folder, nothing in the place of what the format adds, sums and contents
// given, and no two files with the same base name.
//
// Base names, of kept files too, must be unique in all folders and in any
// case: the operator
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
	for _, f := range t.Sorted() {
		if what := f.check(); what != "" {
			wrong = append(wrong, fmt.Sprintf("%q: %s", f.Path, what))
		}
	}
	return t.unfit(append(wrong, t.misplaced()...))
}

// CheckPaths is Check for paths alone, of Files that aren't there yet and of Kept.
func (t *Tree) CheckPaths() error { return t.unfit(t.misplaced()) }

// unfit makes an error of what is wrong; nil when nothing is.
func (t *Tree) unfit(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	fix := "give other paths"
	if len(t.Kept) > 0 {
		fix += ", or keep nothing of the base"
	}
	return &fault.Error{What: "the files don't make a payload", Excerpt: strings.Join(wrong, "\n"), Fix: fix}
}

// misplaced judges the paths of all files against each other, and those of kept
// ones by themselves.
func (t *Tree) misplaced() (wrong []string) {
	var paths []placed
	for _, f := range t.Sorted() {
		if CheckPath(f.Path) == "" {
			paths = append(paths, placed{path: f.Path})
		}
	}
	for _, k := range t.Kept {
		if what := CheckPath(k.Path); what != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s", placed{k.Path, true}, what))
			continue
		}
		paths = append(paths, placed{k.Path, true})
	}
	return append(wrong, clashes(paths)...)
}

// placed is the path of a file of the tree, or of one that stays with it.
type placed struct {
	path string
	kept bool
}

func (p placed) String() string {
	if p.kept {
		return fmt.Sprintf("%q of the base", p.path)
	}
	return fmt.Sprintf("%q", p.path)
}

func (f File) check() string {
	if what := CheckPath(f.Path); what != "" {
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

// CheckPath says what is wrong with a path below Root; empty when it is fine.
func CheckPath(p string) string {
	if p == "" || path.IsAbs(p) || path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../") {
		return "not a clean relative path"
	}
	// Two spaces part sum and name in a sha256sum file, and the operator
	// splits at every pair of them.
	if strings.Contains(p, "  ") {
		return "two spaces in a row"
	}
	if what := winname.Check(p); what != "" {
		return what
	}
	if strings.Contains("/"+p, "/"+whiteoutPrefix) {
		return whiteoutPrefix + " is an image layer's mark for a deleted file"
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

// clashes finds equal base names, and files in the place of a folder. The
// paths are fine by themselves.
func clashes(files []placed) []string {
	var wrong []string
	base := map[string]placed{}
	whole := map[string]placed{}
	for _, f := range files {
		key := strings.ToLower(path.Base(f.path))
		if other, ok := base[key]; ok {
			wrong = append(wrong, fmt.Sprintf("%s: same base name as %s", f, other))
		}
		base[key] = f
		whole[strings.ToLower(f.path)] = f
	}
	for _, f := range files {
		for _, d := range parents(strings.ToLower(f.path)) {
			if other, ok := whole[d]; ok {
				wrong = append(wrong, fmt.Sprintf("%s: below the file %s", f, other))
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

// Format is how files lie in a payload. Which one is right depends on the
// release of the Windows Machine Config Operator (WMCO) that reads it.
type Format string

const (
	// Flat is raw files: WMCO up to 10.20 (OpenShift 4.20).
	Flat Format = "flat"
	// Archived is one single-member .tar.gz for each file, and a sha256sum
	// file beside them: WMCO from 10.21 (OpenShift 4.21).
	Archived Format = "archived"
)

// The fixed names of a payload, the same in both formats.
const (
	// Root is the payload's folder in an image, without a leading slash as
	// in a tar entry's name.
	Root = "payload"
	// SumsName is the checksum file below Root; archived payloads alone
	// have it.
	SumsName = "sha256sum"
	// GeneratedName is the empty folder below Root into which the operator
	// writes at start, under whatever user it runs: mode 0777.
	GeneratedName = "generated"
	// ArchiveSuffix is what an archived payload appends to a file's path.
	ArchiveSuffix = ".tar.gz"
)

// File is one file of a payload as it will be on the node, whatever the
// format packs it in.
type File struct {
	// Path is slash-separated and relative to Root: "csi-proxy/csi-proxy.exe".
	Path string
	// SHA256 is the lower-case hex sum of the uncompressed content.
	SHA256 string
	// Size is the content's length in bytes.
	Size int64
	// Open returns the content from its start. It may be called more than
	// once and from several goroutines at once.
	Open func() (io.ReadCloser, error)
	// Verified says that Open's reader itself fails, instead of io.EOF, when
	// the content doesn't have SHA256, as that of a store does. The content
	// isn't hashed a second time then.
	Verified bool
}

// Tree is the content of a payload. The order of Files doesn't matter.
type Tree struct {
	Format Format
	Files  []File
	// Kept are the files of the image below that stay with Files: see
	// ImageSummary.Keeps of package verify. They are in the checksum list, and no file may clash with one.
	Kept []KeptFile

	extras bool // below ExtrasRoot, see NewExtras
}

// KeptFile is a file below Root that came with the image that a payload was
// put onto, and stays. In JSON it is as node.json has it.
type KeptFile struct {
	// Path is below Root and without ArchiveSuffix, as in File.
	Path string `json:"payload"`
	// SHA256 is the lower-case hex sum and Size the length in bytes of the
	// uncompressed content. Labels don't tell the size.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// Base is the digest of the image that it came with: "sha256:...".
	Base string `json:"base"`
}

func (t *Tree) root() string {
	if t.extras {
		return ExtrasRoot
	}
	return Root
}

// Sorted returns the files in the order of their paths, the order of the
// sha256sum file. t isn't changed.
func (t *Tree) Sorted() []File {
	return slices.SortedFunc(slices.Values(t.Files), func(a, b File) int {
		return cmp.Compare(a.Path, b.Path)
	})
}

// Size returns the sum of the files' sizes in bytes, before compression.
func (t *Tree) Size() int64 {
	var n int64
	for _, f := range t.Files {
		n += f.Size
	}
	return n
}
