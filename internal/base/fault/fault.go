// Package fault is the error that a person reads: what is wrong, where, and
// the command or edit that fixes it.
//
// It isn't for errors that code tells apart: wrap those with fmt.Errorf and
// %w as usual, and turn them into a fault where the person's words are known.
package fault

import (
	"errors"
	"strings"

	"github.com/agext/levenshtein"
)

// Error is a mistake or a failure that a person can act upon. As JSON it goes from a
// node to who asked it, without its cause.
type Error struct {
	// What is wrong, one lower-case sentence without a full stop.
	What string `json:"what"`
	// Where: file:line:column, a URL, a component. May be empty.
	Where string `json:"where,omitempty"`
	// Excerpt is the offending source line with a caret below it, or a
	// program's output. It may span lines and may be empty.
	Excerpt string `json:"excerpt,omitempty"`
	// Fix is the command to run or the edit to make. May be empty.
	Fix string `json:"fix,omitempty"`
	// Code is the exit code; 0 means 1 (finding.ExitError).
	Code int `json:"code,omitempty"`
	// Err is the cause, for errors.Is and errors.As. Its text isn't shown.
	Err error `json:"-"`
}

// Error returns the whole message, as a person sees it after "error: ".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.What)
	if e.Excerpt != "" {
		b.WriteString("\n" + strings.TrimRight(e.Excerpt, "\n"))
	}
	if e.Fix != "" {
		b.WriteString("\nfix: " + e.Fix)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode returns the exit code that err asks for: 0 for nil, the code of
// the first fault in its chain, else 1.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var e *Error
	if errors.As(err, &e) && e.Code != 0 {
		return e.Code
	}
	return 1
}

// FirstLine is an error's first line: some print a whole log below it.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Nearest returns the candidate that the user may have meant by word: the one
// with the fewest edits, at most two and fewer than letters; "" if there is none.
func Nearest(word string, candidates []string) string {
	best, distance := "", min(3, len(word)) // another word altogether is none
	for _, c := range candidates {
		if d := levenshtein.Distance(word, c, nil); d < distance {
			best, distance = c, d
		}
	}
	return best
}
