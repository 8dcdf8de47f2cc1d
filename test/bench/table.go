package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// table is the result: rows of figures, and whether each goal was met.
type table struct {
	head string
	rows []row
}

type row struct {
	what, base, ours, result string
	met                      bool
}

// limit is a goal: a figure has to be at least, or at most, a value.
type limit struct {
	atLeast bool
	value   float64
	unit    string
}

func atLeast(v float64) limit { return limit{atLeast: true, value: v} }
func atMost(v float64) limit  { return limit{value: v} }

func (l limit) met(got float64) bool {
	if l.atLeast {
		return got >= l.value
	}
	return got <= l.value // NaN is neither
}

func (l limit) String() string {
	if l.atLeast {
		return fmt.Sprintf("at least %g%s", l.value, l.unit)
	}
	return fmt.Sprintf("at most %g%s", l.value, l.unit)
}

// add adds a row and says on stderr how it went: a run takes minutes.
func (t *table) add(what, base, ours string, got float64, l limit) {
	r := row{what, base, ours, fmt.Sprintf("%.2f%s (%s)", got, l.unit, l), l.met(got)}
	t.rows = append(t.rows, r)
	fmt.Fprintf(os.Stderr, "%s: %s\n", what, r.marked())
}

// marked is the result, with a word if its goal was missed.
func (r row) marked() string {
	if r.met {
		return r.result
	}
	return r.result + " MISSED"
}

func (t *table) missed() int {
	n := 0
	for _, r := range t.rows {
		if !r.met {
			n++
		}
	}
	return n
}

func (t *table) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n\n| what | baseline | ours | figure (goal) |\n|---|---|---|---|\n", t.head)
	for _, r := range t.rows {
		fmt.Fprintf(&s, "| %s | %s | %s | %s |\n", r.what, r.base, r.ours, r.marked())
	}
	return s.String()
}

// header says what was measured where.
func header(inputs []input) string {
	var n int64
	for _, in := range inputs {
		n += in.Size
	}
	return fmt.Sprintf("%d files, %s, packed on %d cores of %s/%s with %s:",
		len(inputs), megabytes(n), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
