// Package printable makes any string fit for a terminal, XML or a log. Names
// of files, strings out of images and output of programs are vouched for by
// nobody: control characters, terminal escapes, characters that change the
// direction of text and broken UTF-8 come out as \x1b, \u202e and the like. A
// backslash stays as it is, or Windows paths couldn't be read.
package printable

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Line is s on one line: line feeds and tabs are written out too.
func Line(s string) string { return escape(s, "") }

// Text is s with its line feeds and tabs.
func Text(s string) string { return escape(s, "\n\t") }

// OneLine is a text with single spaces instead of its lines and indents.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip is s cut after 120 bytes, between two characters: what a message shows of
// text that may be anything. A reference by digest is shorter.
func Clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// Quote is Clip in quotes.
func Quote(s string) string { return strconv.Quote(Clip(s)) }

// credentials are a URL's user where that may be a token, and its password.
var credentials = regexp.MustCompile(`(https?://)[^/\s"']*@|([a-z+]+://[^/\s"':@]*:)[^/\s"']*@`)

// NoCredentials is s with stars instead of what URLs in it have before their
// host: a password, and a user of http, which is a token for many servers.
func NoCredentials(s string) string { return credentials.ReplaceAllString(s, "${1}${2}***@") }

func escape(s, keep string) string {
	stays := func(r rune) bool { return unicode.IsPrint(r) || strings.ContainsRune(keep, r) }
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !stays(r) }) {
		return s // nearly every string
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case stays(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		}
		s = s[n:]
	}
	return b.String()
}

// JSON writes what a terminal would act upon as JSON escapes, so that the value of
// s stays the same. encoding/json does it below U+0020 only, and a C1 control or a
// change of direction gets through. Outside strings JSON is printable ASCII and
// line feeds.
func JSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Columns is how many columns of a terminal s takes: two for a wide character,
// none for a combining mark.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	case width.Neutral, width.EastAsianAmbiguous, width.EastAsianNarrow, width.EastAsianHalfwidth:
	}
	return 1
}

// Wrap breaks s between words into lines of at most n columns. A word that is
// too long stays whole: it may be a digest that somebody wants to copy. So does an
// update, "4.19 -> 4.20".
func Wrap(s string, n int) []string {
	const glued = "\x00" // no cleaned string holds one
	var lines []string
	line := ""
	for _, word := range strings.Fields(strings.ReplaceAll(s, " -> ", glued+"->"+glued)) {
		word = strings.ReplaceAll(word, glued, " ")
		switch {
		case line == "":
			line = word
		case Columns(line)+1+Columns(word) > n:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// Reference is a reference to an image without the credentials that some put
// before its registry.
func Reference(s string) string {
	digest := digestForm.FindString(s)
	name := strings.TrimSuffix(s, digest)
	i := strings.LastIndex(name, "@")
	if i < 0 || strings.Contains(name[:i], "/") && !strings.Contains(name[i:], "/") {
		return s // no @, or a malformed digest
	}
	scheme := ""
	if before, _, found := strings.Cut(name[:i], "://"); found {
		scheme = before + "://"
	}
	return scheme + "***" + name[i:] + digest
}

var digestForm = regexp.MustCompile(`@sha\d+:[^/@]*$`)
