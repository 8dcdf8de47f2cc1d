// Package powershell tells whether Windows PowerShell 5.1, which every Windows
// Server has, takes a script: where PowerShell isn't, nothing else says so before
// the script runs. It follows the language's grammar
// (https://learn.microsoft.com/powershell/scripting/lang-spec/chapter-15) and
// PowerShell's own parser where the two differ.
//
// It runs nothing and builds no tree, and it is lenient: what it isn't sure of,
// it takes. That a command exists, or has a parameter, isn't syntax.
package powershell

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
func Check(script string) (found *SyntaxError) {
	p := &parser{src: []rune(strings.TrimPrefix(script, "\ufeff"))}
	defer func() {
		if r := recover(); r != nil {
			e, ours := r.(*SyntaxError)
			if !ours {
				panic(r)
			}
			found = e
		}
	}()
	p.statements()
	if !p.end() {
		p.failf("Unexpected token '%c' in expression or statement.", p.src[p.pos])
	}
	return nil
}

// parser reads a script once, from its beginning to its end.
type parser struct {
	src   []rune
	pos   int
	depth int
}

// maxDepth bounds nesting: no script is anywhere near, and Go's stack isn't
// endless.
const maxDepth = 500

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.failf("The script is nested too deeply.")
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) end() bool { return p.pos >= len(p.src) }

// at is the character n places on, 0 behind the end.
func (p *parser) at(n int) rune {
	if p.pos+n < len(p.src) {
		return p.src[p.pos+n]
	}
	return 0
}

func (p *parser) is(text string) bool {
	for i, r := range []rune(text) {
		if p.at(i) != r {
			return false
		}
	}
	return true
}

// take goes past the text, if it is here.
func (p *parser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.pos += len([]rune(text))
	return true
}

func (p *parser) failf(format string, args ...any) { p.failAt(p.pos, format, args...) }

func (p *parser) failAt(pos int, format string, args ...any) {
	e := &SyntaxError{Line: 1, Column: 1, What: fmt.Sprintf(format, args...)}
	for _, r := range p.src[:min(pos, len(p.src))] {
		if e.Column++; r == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	panic(e)
}

// want goes past a bracket that closes what began at from.
func (p *parser) want(closing string, from int, what string) {
	if p.take(closing) {
		return
	}
	if p.end() {
		p.failAt(from, "Missing closing '%s' in %s.", closing, what)
	}
	p.failf("Unexpected token '%c' in expression or statement.", p.src[p.pos])
}

// PowerShell takes typographic quotes and dashes for plain ones.
func isSingle(r rune) bool { return r == '\'' || r >= 0x2018 && r <= 0x201b }
func isDouble(r rune) bool { return r == '"' || r >= 0x201c && r <= 0x201e }
func isDash(r rune) bool   { return r == '-' || r >= 0x2013 && r <= 0x2015 }
func isBreak(r rune) bool  { return r == '\n' || r == '\r' }
func isSpace(r rune) bool  { return !isBreak(r) && (unicode.IsSpace(r) || r == 0xfeff) }
func isWord(r rune) bool   { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// space goes past white space, comments and continued lines, and reports whether
// there was any.
func (p *parser) space() bool {
	from := p.pos
	for !p.end() {
		switch r := p.at(0); {
		case isSpace(r):
			p.pos++
		case r == '`' && isBreak(p.at(1)):
			p.pos += 2
			if p.src[p.pos-1] == '\r' {
				p.take("\n")
			}
		case r == '#':
			for !p.end() && !isBreak(p.at(0)) {
				p.pos++
			}
		case p.is("<#"):
			p.comment()
		default:
			return p.pos > from
		}
	}
	return p.pos > from
}

func (p *parser) comment() {
	from := p.pos
	for p.pos += 2; !p.take("#>"); p.pos++ {
		if p.end() {
			p.failAt(from, "The terminator '#>' is missing from the multiline comment.")
		}
	}
}

// lines is space over ends of lines.
func (p *parser) lines() {
	for p.space() || isBreak(p.at(0)) {
		for isBreak(p.at(0)) {
			p.pos++
		}
	}
}

// word is the name that stands here, in lower case, "" for none.
func (p *parser) word() string {
	n := 0
	for isWord(p.at(n)) {
		n++
	}
	return strings.ToLower(string(p.src[p.pos : p.pos+n]))
}
