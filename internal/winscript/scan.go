package winscript

import (
	"strings"
	"unicode"
)

// scanner reads characters: quotes and dashes that word processors make are
// PowerShell's too.
type scanner struct {
	src      []rune
	pos      int
	comments [][2]int // where they begin and end
}

var typographic = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`,
	"\u2013", "-", "\u2014", "-", "\u2015", "-", "\ufeff", " ")

func newScanner(text string) scanner { return scanner{src: []rune(typographic.Replace(text))} }

// at is the character n behind the present one, 0 behind the end.
func (s *scanner) at(n int) rune {
	if s.pos+n < len(s.src) && s.pos+n >= 0 {
		return s.src[s.pos+n]
	}
	return 0
}

func (s *scanner) ended() bool { return s.pos >= len(s.src) }

func (s *scanner) has(text string) bool {
	for i, r := range []rune(text) {
		if s.at(i) != r {
			return false
		}
	}
	return true
}

func lineOf(src []rune, pos int) int {
	line := 1
	for _, r := range src[:min(pos, len(src))] {
		if r == '\n' {
			line++
		}
	}
	return line
}

// space passes over blanks, comments and continued lines; a comment begins only
// where a token could.
func (s *scanner) space() {
	for !s.ended() {
		switch {
		case s.at(0) != '\n' && unicode.IsSpace(s.at(0)):
			s.pos++
		case s.has("`\n"):
			s.pos += 2
		case s.has("`\r\n"):
			s.pos += 3
		case s.has("<#"):
			s.comment()
		case s.at(0) == '#':
			begin := s.pos
			for !s.ended() && s.at(0) != '\n' {
				s.pos++
			}
			s.comments = append(s.comments, [2]int{begin, s.pos})
		default:
			return
		}
	}
}

func (s *scanner) comment() {
	begin := s.pos
	for s.pos += 2; !s.has("#>") && !s.ended(); {
		s.pos++
	}
	s.pos = min(s.pos+2, len(s.src))
	s.comments = append(s.comments, [2]int{begin, s.pos})
}

// WithoutComments is a PowerShell script without them, each line in its place.
func WithoutComments(text string) string {
	p := &parser{scanner: newScanner(text)}
	p.statements(0)
	out := []rune(text)
	for _, c := range p.comments {
		for i := c[0]; i < c[1]; i++ {
			if out[i] != '\n' {
				out[i] = 0
			}
		}
	}
	return strings.ReplaceAll(string(out), "\x00", "")
}

// lines passes over ends of lines as well.
func (s *scanner) lines() {
	for s.space(); s.at(0) == '\n'; s.space() {
		s.pos++
	}
}

func isName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// endsWord reports whether a character ends a word among a command's arguments.
func endsWord(r rune) bool {
	return r == 0 || unicode.IsSpace(r) || strings.ContainsRune("|&;(){},<>", r)
}

// name reads a variable's name behind the $; "" for none.
func (s *scanner) name(inString bool) string {
	begin := s.pos
	switch {
	case s.at(0) == '{':
		for s.pos++; !s.ended() && s.at(0) != '}'; s.pos++ {
			if s.at(0) == '`' {
				s.escape()
				s.pos--
			}
		}
		s.pos = min(s.pos+1, len(s.src))
		return strings.Trim(string(s.src[begin:s.pos]), "{}")
	case strings.ContainsRune("$^?", s.at(0)) && s.at(0) != 0 && !inString:
		s.pos++
		return string(s.src[begin:s.pos])
	}
	for isName(s.at(0)) || s.at(0) == ':' && isName(s.at(1)) && s.at(-1) != ':' && s.pos > begin || s.at(0) == '?' && !inString && s.at(1) != '.' && s.pos > begin {
		s.pos++
	}
	return string(s.src[begin:s.pos])
}

// single reads a string in single quotes.
func (s *scanner) single() *node {
	begin := s.pos
	var b strings.Builder
	for s.pos++; ; s.pos++ {
		switch {
		case s.ended():
			return s.made(literal, begin, b.String())
		case s.has("''"):
			s.pos++
		case s.at(0) == '\'':
			s.pos++
			return s.made(literal, begin, b.String())
		}
		b.WriteRune(s.at(0))
	}
}

// here reads a here-string in single quotes: @' to a line that begins with '@.
func (s *scanner) here() *node {
	begin := s.pos
	s.header()
	from := s.pos
	for ; !s.has("\n'@"); s.pos++ {
		if s.ended() {
			return s.made(literal, begin, string(s.src[from:]))
		}
	}
	text := strings.TrimPrefix(string(s.src[from:s.pos]), "\n")
	s.pos += 3
	return s.made(literal, begin, strings.TrimSuffix(text, "\r"))
}

// header passes over a here-string's @ and quote, up to the end of its line.
func (s *scanner) header() {
	for s.pos += 2; s.at(0) != '\n' && unicode.IsSpace(s.at(0)); s.pos++ {
	}
}

func (s *scanner) made(k kind, begin int, text string, kids ...*node) *node {
	return &node{kind: k, text: text, kids: kids, pos: begin, end: s.pos}
}

// escapes are what a backtick makes of a letter.
var escapes = map[rune]string{'n': "\n", 'r': "\r", 't': "\t", '0': "\x00", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\n': "", 0: ""}

// escape reads a backtick with what is behind it: a character, or `u{20ac}.
func (s *scanner) escape() string {
	r := s.at(1)
	text, special := escapes[r]
	if !special {
		text = string(r)
	}
	s.pos = min(s.pos+2, len(s.src))
	if r == 'u' && s.at(0) == '{' {
		for s.at(0) != '}' && !s.ended() {
			s.pos++
		}
		s.pos = min(s.pos+1, len(s.src))
		return "\ufffd"
	}
	return text
}
