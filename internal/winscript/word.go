package winscript

import (
	"strings"
	"unicode"
)

// command reads a command with its arguments, up to what ends it.
func (p *parser) command() *node {
	begin, next := p.pos, p.at(1)
	if p.is("&") || p.is(".") && (isSpace(next) || isOf(next, `$({'"`)) {
		p.pos++
		if p.space(); p.closesPipe() {
			p.failf("Unexpected token '&' in expression or statement.")
			return p.made(literal, begin, "")
		}
	}
	out := p.made(command, begin, "", p.argument())
	for {
		if p.space(); p.closesPipe() || p.is("&") {
			out.end = p.pos
			return out
		}
		if p.is("--%") && endsWord(p.at(3)) { // the rest goes to the program as it is
			from := p.pos + 3
			for !p.end() && !isBreak(p.at(0)) && !p.is("|") {
				p.pos++
			}
			for _, word := range strings.Fields(string(p.src[from:p.pos])) {
				out.kids = append(out.kids, p.made(literal, from, strings.Trim(word, `"`)))
			}
			continue
		}
		before := p.pos
		if file := p.redirected(); file != nil {
			out.kids = append(out.kids, file)
		} else if a := p.words(); p.pos > before {
			out.kids = append(out.kids, a)
		} else {
			p.unexpected()
			p.pos++
		}
	}
}

// redirected reads > FILE, as if it were a parameter, and 2>&1; nil for neither.
func (p *parser) redirected() *node {
	begin, n := p.pos, 0
	if p.in(0, "123456*") && p.at(1) == '>' {
		n = 1
	}
	if !p.in(n, "<>") {
		return nil
	}
	inWord := p.pos == p.bareEnd // a<b
	if p.is("<") && !inWord {
		p.failf("The '<' operator is reserved for future use.")
	}
	for p.pos += n; p.in(0, "<>"); p.pos++ {
	}
	out := p.made(parameter, begin, ">")
	if p.take("&") {
		p.skip(1)
		return out
	}
	if p.space(); !p.closesPipe() && !p.is("&") {
		out.kids = []*node{p.argument()}
	} else if !inWord {
		p.failf("Missing file specification after redirection operator.")
	}
	return out
}

// words reads one argument, or several with commas between them.
func (p *parser) words() *node {
	first := p.argument()
	if first.kind == parameter {
		return first
	}
	return p.listed(first, p.argument)
}

// listed reads what comes behind the first of several values and a comma.
func (p *parser) listed(first *node, next func() *node) *node {
	out := []*node{first}
	for {
		before := p.pos
		if p.space(); !p.take(",") {
			p.pos = before
			break
		}
		p.lines()
		out = append(out, next())
	}
	if len(out) == 1 {
		return first
	}
	return p.made(list, first.pos, "", out...)
}

// isScoped reports whether a package of npm is here, @scope/name: it is no variable
// with a division behind it.
func (p *parser) isScoped() bool {
	n := 1
	for isWord(p.at(n)) {
		n++
	}
	return p.at(n) == '/'
}

// argument reads one word of a command.
func (p *parser) argument() *node {
	begin, next := p.pos, p.at(1)
	switch {
	case p.is("-") && (unicode.IsLetter(next) || isOf(next, "_?")):
		return p.parameter()
	case p.in(0, `({'"`), p.is("@") && (isOf(next, `({'"`) || isWord(next) && !p.isScoped()):
		return p.members(p.atom(), true)
	case p.is("$") && (isWord(next) || isOf(next, "{(")):
		n := p.members(p.atom(), true)
		if endsWord(p.at(0)) {
			return n
		}
		if n.kind != member || n.kids[0].kind != variable || strings.Contains(n.text, "(") { // not read twice: it may be deep
			return p.generic(n)
		}
		p.pos = begin // $a.b/c is $a with .b/c behind it
	}
	return p.generic()
}

// parameter reads -Name; a value may be joined to it with a colon.
func (p *parser) parameter() *node {
	begin := p.pos
	p.pos++
	for r := p.at(0); !endsWord(r) && !isOf(r, `:'"=`); r = p.at(0) {
		if r == '.' && unicode.IsDigit(p.at(1)) || r == '`' || r == '$' {
			p.pos = begin
			return p.generic()
		}
		p.pos++
	}
	n := p.made(parameter, begin, strings.ToLower(string(p.src[begin+1:p.pos])))
	p.bareEnd = p.pos
	switch {
	case p.take(":"):
		if !endsWord(p.at(0)) || p.in(0, "({") {
			n.kids = []*node{p.words()}
		}
	case !endsWord(p.at(0)): // a program's own way: -Dname=value
		p.pos = begin
		return p.generic()
	}
	return n
}

// generic reads a word that may have strings and variables in it.
func (p *parser) generic(kids ...*node) *node {
	begin, from := p.pos, p.pos
	if len(kids) > 0 {
		begin = kids[0].pos
	}
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			kids = append(kids, p.made(literal, begin, b.String()))
			b.Reset()
		}
	}
	for !endsWord(p.at(0)) && !(p.is("`") && isBreak(p.at(1))) {
		switch {
		case p.is("`"):
			b.WriteString(p.escape())
		case p.is("'"):
			b.WriteString(p.text().text)
		case p.is(`"`):
			flush()
			kids = append(kids, p.text())
		case p.is("$") && (isWord(p.at(1)) || p.in(1, "({")):
			flush()
			kids = append(kids, p.atom())
		default:
			b.WriteRune(p.at(0))
			p.pos++
		}
	}
	if flush(); p.pos > from {
		p.bareEnd = p.pos
	}
	switch len(kids) {
	case 0:
		return p.made(literal, begin, "")
	case 1:
		kids[0].pos, kids[0].end = begin, p.pos
		return kids[0]
	}
	return p.made(expanded, begin, "", kids...)
}
