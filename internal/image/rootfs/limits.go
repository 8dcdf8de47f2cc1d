package rootfs

import (
	"archive/tar"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/image/tarentry"
)

// Limits bound what a hostile image can make a reader do. A zero field takes
// its default.
type Limits struct {
	// MaxFile is the size in bytes of one file, before compression; 1 GiB by
	// default, eight times the largest node binary.
	MaxFile int64
	// MaxTotal is the sum in bytes of all layers of one image and of all
	// archives in them, before compression; 8 GiB by default.
	MaxTotal int64
	// MaxEntries is the number of tar entries in the payload of one image;
	// 100,000 by default. Entries elsewhere cost no memory and are bounded by
	// MaxTotal.
	MaxEntries int
	// MaxRatio is how many times larger than its compressed bytes a layer or
	// an archive may be; 100 by default, where executables reach 4. It
	// applies from 16 MiB on.
	MaxRatio int64
}

const (
	defaultMaxFile    = 1 << 30
	defaultMaxTotal   = 8 << 30
	defaultMaxEntries = 100_000
	defaultMaxRatio   = 100
	// ratioFrom is how many bytes may come out before MaxRatio applies: small
	// files of zeros do no harm and are common.
	ratioFrom = 16 << 20
)

func (l Limits) withDefaults() Limits {
	return Limits{
		cmp.Or(l.MaxFile, defaultMaxFile), cmp.Or(l.MaxTotal, defaultMaxTotal),
		cmp.Or(l.MaxEntries, defaultMaxEntries), cmp.Or(l.MaxRatio, defaultMaxRatio),
	}
}

// LimitError is the refusal of an image that goes beyond Limits.
type LimitError struct {
	// Object is the layer or file.
	Object string
	// Observed and Limit say what went beyond what.
	Observed, Limit string
}

// Error says all three.
func (e *LimitError) Error() string {
	return fmt.Sprintf("refuse %s: %s, the limit is %s", e.Object, e.Observed, e.Limit)
}

type budget struct {
	limits Limits
	total  atomic.Int64
}

// reader counts what comes out of r against the limits; in tells how many
// compressed bytes went into it.
func (b *budget) reader(object string, r io.Reader, in func() int64) io.Reader {
	return &budgetReader{budget: b, object: object, r: r, in: in}
}

type budgetReader struct {
	budget *budget
	object string
	r      io.Reader
	in     func() int64
	out    int64
}

func (r *budgetReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.out += int64(n)
	l := r.budget.limits
	if total := r.budget.total.Add(int64(n)); total > l.MaxTotal {
		return n, &LimitError{r.object, "the image inflates to more than that", fmt.Sprintf("%d bytes in all", l.MaxTotal)}
	}
	if in := r.in(); r.out > ratioFrom && r.out/l.MaxRatio > in {
		return n, &LimitError{
			r.object, fmt.Sprintf("%d bytes inflate to %d and more", in, r.out), fmt.Sprintf("%d times", l.MaxRatio),
		}
	}
	return n, err
}

// countingReader counts what is read through it; its count may be asked for
// from another goroutine.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
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

// privileged says which privileges an entry would give to the one who runs it.
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
