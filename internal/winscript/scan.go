package winscript

import (
	"fmt"
	"strings"
	"unicode"
)

// SyntaxError is what PowerShell refuses a script for, as PowerShell says it.
type SyntaxError struct {
	Line, Column int // from 1
	What         string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What) }

// Check returns the first error in a script, nil for none.
func Check(script string) *SyntaxError {
	p := newParser(strings.TrimPrefix(script, "\ufeff"))
	p.statements(0, 0, "")
	return p.err
}

// parser reads a script once, from its beginning to its end. Behind an error it
// goes on, with what it doesn't know as words.
type parser struct {
	src      []rune
	pos      int
	depth    int
	bareEnd  int      // where the last word without quotes ended
	comments [][2]int // where they begin and end
	err      *SyntaxError
}

// plain has plain quotes and dashes for typographic ones, as PowerShell has. None
// of its characters is 0, which is the end of a script.
var plain = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`,
	"\u2013", "-", "\u2014", "-", "\u2015", "-", "\ufeff", " ", "\x00", "\ufffd")

func newParser(text string) *parser { return &parser{src: []rune(plain.Replace(text))} }

// maxDepth bounds nesting: no script is anywhere near, and Go's stack isn't
// endless.
const maxDepth = 251

// enter reports whether what is here is too deep; leave goes with it.
func (p *parser) enter() (deep bool) {
	if p.depth++; p.depth > maxDepth {
		p.failf("The script is nested too deeply.")
		p.pos = len(p.src)
	}
	return p.depth > maxDepth
}

func (p *parser) leave() { p.depth-- }

func (p *parser) end() bool { return p.pos >= len(p.src) }

// at is the character n places on, 0 behind the end.
func (p *parser) at(n int) rune {
	if i := p.pos + n; i >= 0 && i < len(p.src) {
		return p.src[i]
	}
	return 0
}

// is reports whether this text, of ASCII, is here.
func (p *parser) is(text string) bool {
	for i, r := range text {
		if p.at(i) != r {
			return false
		}
	}
	return true
}

// in reports whether the character n places on is one of these.
func (p *parser) in(n int, these string) bool { return isOf(p.at(n), these) }

func isOf(r rune, these string) bool { return r != 0 && strings.ContainsRune(these, r) }

// take goes past the text, if it is here.
func (p *parser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.pos += len(text)
	return true
}

// skip goes past so many characters, and returns them.
func (p *parser) skip(n int) string {
	from := p.pos
	p.pos = min(p.pos+n, len(p.src))
	return string(p.src[from:p.pos])
}

func (p *parser) failf(format string, args ...any) { p.failAt(p.pos, format, args...) }

func (p *parser) failAt(pos int, format string, args ...any) {
	if p.err == nil {
		line, column := place(p.src, pos)
		p.err = &SyntaxError{line, column, fmt.Sprintf(format, args...)}
	}
}

func place(src []rune, pos int) (line, column int) {
	line, column = 1, 1
	for _, r := range src[:min(pos, len(src))] {
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// unexpected fails at what follows a whole statement.
func (p *parser) unexpected() {
	n := 1
	for p.at(n) != 0 && !endsWord(p.at(n)) || p.in(n, ",<>|&") {
		n++
	}
	p.failf("Unexpected token '%s' in expression or statement.", string(p.src[p.pos:min(p.pos+n, len(p.src))]))
}

func isBreak(r rune) bool { return r == '\n' || r == '\r' }
func isSpace(r rune) bool { return !isBreak(r) && unicode.IsSpace(r) }
func isWord(r rune) bool  { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
func isQuote(r rune) bool { return r == '\'' || r == '"' }

// endsWord reports whether a character ends a word among a command's arguments.
func endsWord(r rune) bool { return r == 0 || unicode.IsSpace(r) || isOf(r, "|&;(){},<>") }

// word is the name that stands here, in lower case, "" for none.
func (p *parser) word() string {
	from := p.pos
	for isWord(p.at(0)) {
		p.pos++
	}
	name := strings.ToLower(string(p.src[from:p.pos]))
	p.pos = from
	return name
}

// space goes past white space, comments and continued lines. A comment begins
// only where a token could.
func (p *parser) space() {
	for from := p.pos; !p.end(); from = p.pos {
		switch {
		case isSpace(p.at(0)):
			p.pos++
			continue
		case p.is("`") && isBreak(p.at(1)):
			if p.pos += 2; p.at(-1) == '\r' {
				p.take("\n")
			}
			continue
		case p.is("#"):
			for !p.end() && !p.is("\n") && !(p.is("\r") && p.at(1) != '\n') {
				p.pos++
			}
		case p.is("<#"):
			for p.pos += 2; !p.end() && !p.is("#>"); {
				p.pos++
			}
			if !p.take("#>") {
				p.failAt(from, "The terminator '#>' is missing from the multiline comment.")
			}
		default:
			return
		}
		p.comments = append(p.comments, [2]int{from, p.pos})
	}
}

// lines is space over ends of lines.
func (p *parser) lines() {
	for p.space(); isBreak(p.at(0)); p.space() {
		p.pos++
	}
}

// follows reports whether a character begins the next token, on this line or
// later.
func (p *parser) follows(r rune) bool {
	before := p.pos
	p.lines()
	found := p.at(0) == r
	p.pos = before
	return found
}

// WithoutComments is a PowerShell script without them, each line in its place.
func WithoutComments(text string) string {
	p := newParser(text)
	p.statements(0, 0, "")
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

func (p *parser) made(k kind, begin int, text string, kids ...*node) *node {
	return &node{kind: k, text: text, kids: kids, pos: begin, end: p.pos}
}

// name reads a variable's name behind the $, in lower case; "" for none.
func (p *parser) name(inString bool) string {
	begin := p.pos
	switch {
	case p.take("{"): // which may have almost anything in it
		for !p.end() && !p.is("}") {
			if p.is("`") {
				p.pos++
			}
			p.pos++
		}
		if p.pos = min(p.pos, len(p.src)); !p.take("}") {
			p.failAt(begin-1, "The closing '}' of the variable's name is missing.")
		}
		return strings.ToLower(strings.Trim(string(p.src[begin:p.pos]), "{}"))
	case !inString && p.in(0, "$^?"):
		return p.skip(1)
	}
	for isWord(p.at(0)) || p.is(":") && isWord(p.at(1)) || !inString && p.is("?") && p.at(1) != '.' {
		p.pos++
	}
	return strings.ToLower(string(p.src[begin:p.pos]))
}

func (p *parser) variable(inString bool) *node {
	begin := p.pos
	p.skip(1)
	name := p.name(inString)
	if name == "" {
		return p.made(literal, begin, "$")
	}
	for _, scope := range []string{"script:", "global:", "local:", "private:", "using:", "variable:"} {
		name = strings.TrimPrefix(name, scope)
	}
	return p.made(variable, begin, name)
}

// text reads a string: in quotes, or the lines between @" and "@, each at the end
// and the beginning of a line. In double quotes, what begins with $ is script.
func (p *parser) text() *node {
	begin := p.pos
	here := p.take("@")
	quote := p.skip(1)
	closing, ends := quote, func() bool { return !p.is(quote+quote) && p.take(quote) }
	if here {
		closing = quote + "@"
		ends = func() bool { return p.take("\r\n"+closing) || p.take("\n"+closing) || p.take("\r"+closing) }
		for isSpace(p.at(0)) {
			p.pos++
		}
		if !p.end() && !isBreak(p.at(0)) {
			p.failf("No characters are allowed after a here-string header but before the end of the line.")
		}
	}
	var kids []*node
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			kids = append(kids, p.made(literal, begin, b.String()))
			b.Reset()
		}
	}
	ended := here && ends()
	if here && !ended && !p.take("\r\n") {
		p.pos = min(p.pos+1, len(p.src))
	}
	for !ended {
		switch r := p.at(0); {
		case p.end():
			p.failAt(begin, "The string is missing the terminator: %s.", closing)
			ended = true
		case ends():
			ended = true
		case quote == `"` && r == '`':
			b.WriteString(p.escape())
		case quote == `"` && p.is("$("):
			flush()
			kids = append(kids, p.group("$("))
		case quote == `"` && r == '$' && (p.at(1) == '{' || isWord(p.at(1))):
			flush()
			kids = append(kids, p.variable(true))
		default:
			if !here {
				p.take(quote) // the first of two
			}
			b.WriteRune(p.at(0))
			p.pos++
		}
	}
	if quote == "'" {
		return p.made(literal, begin, b.String())
	}
	flush()
	return p.made(expanded, begin, "", kids...)
}

func (p *parser) isHere() bool { return p.is("@") && isQuote(p.at(1)) }

// escapes are what a backtick makes of a letter.
var escapes = map[rune]string{'n': "\n", 'r': "\r", 't': "\t", '0': "\x00", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\n': "", 0: ""}

// escape reads a backtick with what is behind it: a character, or `u{20ac} of a
// later PowerShell.
func (p *parser) escape() string {
	r := p.at(1)
	p.skip(2)
	n := 1
	for r == 'u' && p.is("{") && unicode.Is(unicode.Hex_Digit, p.at(n)) {
		n++
	}
	if n > 1 && p.at(n) == '}' {
		p.pos += n + 1
		return "\ufffd"
	}
	if text, special := escapes[r]; special {
		return text
	}
	return string(r)
}
