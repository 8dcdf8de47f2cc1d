package script

import (
	"fmt"
	"strings"
	"unicode"
)

// SyntaxError is the first mistake of a script, in PowerShell's own words.
type SyntaxError struct {
	Line, Column int // from 1
	What         string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.What) }

// Check finds a string, comment or bracket without an end, a bracket too many, and
// the separators that only PowerShell 7 knows; nil if there is none.
func Check(text string) *SyntaxError {
	s := &scanner{src: []rune(quotes.Replace(text))}
	s.code()
	return s.wrong
}

// quotes are those that PowerShell takes for its own.
var quotes = strings.NewReplacer("\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'")

// scanner goes through a script once. After the first mistake it is at the end.
type scanner struct {
	src   []rune
	pos   int
	open  []int // where brackets without an end are
	wrong *SyntaxError
}

func (s *scanner) fail(at int, format string, args ...any) {
	if s.wrong == nil {
		before := string(s.src[:at])
		line := strings.Count(before, "\n")
		s.wrong = &SyntaxError{line + 1, at - len([]rune(before[:strings.LastIndex(before, "\n")+1])) + 1, fmt.Sprintf(format, args...)}
	}
	s.pos = len(s.src)
}

func (s *scanner) end() bool { return s.pos >= len(s.src) }

// at is the rune n behind the present one, 0 beyond the script.
func (s *scanner) at(n int) rune {
	if s.pos+n < 0 || s.pos+n >= len(s.src) {
		return 0
	}
	return s.src[s.pos+n]
}

func (s *scanner) is(text string) bool {
	for i, r := range []rune(text) {
		if s.at(i) != r {
			return false
		}
	}
	return true
}

// code reads statements up to the script's end, or to the bracket that closes a
// subexpression of a string.
func (s *scanner) code() {
	depth := len(s.open)
	for !s.end() {
		switch r := s.at(0); {
		case r == '`':
			s.pos += 2
		case s.is("<#"):
			s.until("#>", "The terminator '#>' is missing from the multiline comment.")
		case r == '#' && s.startsToken():
			s.line()
		case s.is("--%") && s.startsToken():
			s.line()
		case s.is("${"):
			s.until("}", "The braced variable name is missing its closing '}'.")
		case r == '@' && (s.at(1) == '"' || s.at(1) == '\''):
			s.here()
		case r == '"' || r == '\'':
			s.text()
		case r == '(' || r == '{':
			s.open = append(s.open, s.pos)
			s.pos++
		case r == ')' || r == '}':
			if s.close(r); len(s.open) < depth {
				return
			}
		case s.is("&&") || s.is("||"):
			s.fail(s.pos, "The token '%s' is not a valid statement separator in this version.", string(s.src[s.pos:s.pos+2]))
		case s.is("??") && unicode.IsSpace(s.at(-1)) && (unicode.IsSpace(s.at(2)) || s.at(2) == '='):
			s.fail(s.pos, "Unexpected token '??' in expression or statement.")
		default:
			s.pos++
		}
	}
	if len(s.open) > 0 && s.wrong == nil {
		s.unclosed(s.open[len(s.open)-1])
	}
}

// startsToken reports whether no word goes on here.
func (s *scanner) startsToken() bool {
	r := s.at(-1)
	return r == 0 || unicode.IsSpace(r) || strings.ContainsRune("(){};,|&=", r)
}

func (s *scanner) line() {
	for !s.end() && s.at(0) != '\n' {
		s.pos++
	}
}

// until passes over what is behind an opening, up to its end.
func (s *scanner) until(closing, missing string) {
	begin := s.pos
	for s.pos += 2; !s.end(); s.pos++ {
		if s.is(closing) {
			s.pos += len(closing)
			return
		}
	}
	s.fail(begin, "%s", missing)
}

func (s *scanner) close(r rune) {
	if len(s.open) == 0 {
		s.fail(s.pos, "Unexpected token '%c' in expression or statement.", r)
		return
	}
	last := s.open[len(s.open)-1]
	if (s.src[last] == '(') != (r == ')') {
		s.unclosed(last)
		return
	}
	s.open = s.open[:len(s.open)-1]
	s.pos++
}

func (s *scanner) unclosed(at int) {
	if s.src[at] == '(' {
		s.fail(at, "Missing closing ')' in expression.")
		return
	}
	s.fail(at, "Missing closing '}' in statement block or type definition.")
}

// text is a string in quotes; in double ones are subexpressions.
func (s *scanner) text() {
	begin, quote := s.pos, s.at(0)
	for s.pos++; !s.end(); {
		switch {
		case s.at(0) == quote && s.at(1) == quote:
			s.pos += 2
		case s.at(0) == quote:
			s.pos++
			return
		case !s.inner(quote):
			s.pos++
		}
	}
	s.fail(begin, "The string is missing the terminator: %c.", quote)
}

// here is a here-string, which ends where a line begins with its mark.
func (s *scanner) here() {
	begin, quote := s.pos, s.at(1)
	for s.pos += 2; s.at(0) == ' ' || s.at(0) == '\t' || s.at(0) == '\r'; s.pos++ {
	}
	if !s.end() && s.at(0) != '\n' {
		s.fail(begin, "No characters are allowed after a here-string header but before the end of the line.")
		return
	}
	for !s.end() {
		switch {
		case s.at(0) == '\n' && s.at(1) == quote && s.at(2) == '@':
			s.pos += 3
			return
		case !s.inner(quote):
			s.pos++
		}
	}
	s.fail(begin, "The string is missing the terminator: %c@.", quote)
}

// inner passes over what isn't text in double quotes, and reports whether something was.
func (s *scanner) inner(quote rune) bool {
	switch {
	case quote == '\'':
		return false
	case s.at(0) == '`':
		s.pos += 2
	case s.is("$("):
		s.open = append(s.open, s.pos+1)
		s.pos += 2
		s.code()
	default:
		return false
	}
	return true
}
