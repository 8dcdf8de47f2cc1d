// Package shell writes what people paste into a POSIX shell.
package shell

import (
	"path/filepath"
	"regexp"
	"strings"
)

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// Word is s as a POSIX shell takes it for one word: as it is, or in quotes.
func Word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return Quote(s)
}

// Words are several, in their order.
func Words(list []string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = Word(s)
	}
	return strings.Join(words, " ")
}

// Path is a path as a word. On Windows, too, programs and shells take slashes.
func Path(name string) string { return Word(filepath.ToSlash(name)) }

// Quote is s in quotes, whatever is in it.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
