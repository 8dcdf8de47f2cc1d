package rootfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/winbake/winbake/internal/base/fault"
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
	// MaxEntries is the number of tar entries in the roots of one image; 100,000
	// by default. Entries elsewhere are bounded by MaxTotal.
	MaxEntries int
}

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.MaxFile, 1<<30), cmp.Or(l.MaxTotal, 8<<30), cmp.Or(l.MaxEntries, 100_000)}
}

// maxPath is how long a path may be in bytes: Linux's own PATH_MAX.
const maxPath = 4096

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

// budget counts what an image inflates to.
type budget struct {
	Limits
	inflated atomic.Int64
}

// limit refuses what comes out of r once the whole image has more than MaxTotal.
func (b *budget) limit(object string, r io.Reader) io.Reader { return &limitReader{b, object, r} }

type limitReader struct {
	*budget
	object string
	r      io.Reader
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.inflated.Add(int64(n)) > l.MaxTotal {
		err = &LimitError{l.object, "the image inflates to more than that", fmt.Sprintf("%d bytes in all", l.MaxTotal)}
	}
	return n, err
}

// longHeader is package tar's refusal of PAX records or names that it doesn't hold in
// memory.
func longHeader(object string) *LimitError {
	return &LimitError{object, "a tar header of more than 1048576 bytes", "1048576 bytes"}
}

// isOurs tells an error that already says what a person needs, or that ends a
// run, from one of a decoder or archive reader.
func isOurs(err error) bool {
	_, isFault := errors.AsType[*fault.Error](err)
	_, isLimit := errors.AsType[*LimitError](err)
	return isFault || isLimit || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
