package rootfs

import (
	"fmt"
	"io"
	"sync/atomic"
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
	def := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&l.MaxFile, defaultMaxFile)
	def(&l.MaxTotal, defaultMaxTotal)
	def(&l.MaxRatio, defaultMaxRatio)
	if l.MaxEntries == 0 {
		l.MaxEntries = defaultMaxEntries
	}
	return l
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
