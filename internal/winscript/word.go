package winscript

import (
	"strings"
	"unicode"
)

// command reads a command's arguments, up to what ends it.
func (p *parser) command(begin int, name *node) *node {
	out := p.made(command, begin, "", name)
	for {
		p.space()
		if p.stops() || p.at(0) == '|' || p.at(0) == '&' {
			out.end = p.pos
			return out
		}
		if p.has("--%") && endsWord(p.at(3)) { // the rest goes to the program as it is
			p.pos += 3
			from := p.pos
			for !p.ended() && p.at(0) != '\n' && p.at(0) != '|' {
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
			continue
		}
		if a := p.arguments(); p.pos > before {
			out.kids = append(out.kids, a)
		} else {
			p.pos++
		}
	}
}

// redirected reads > FILE, as if it were a parameter, and 2>&1; nil for neither.
func (p *parser) redirected() *node {
	begin, n := p.pos, 0
	if r := p.at(0); r != 0 && strings.ContainsRune("123456*", r) && p.at(1) == '>' {
		n = 1
	}
	if p.at(n) != '>' && p.at(n) != '<' {
		return nil
	}
	for p.pos += n; p.at(0) == '>' || p.at(0) == '<'; p.pos++ {
	}
	out := p.made(parameter, begin, ">")
	if p.at(0) == '&' && unicode.IsDigit(p.at(1)) {
		p.pos += 2
		return out
	}
	if p.space(); !p.stops() {
		out.kids = []*node{p.argument()}
	}
	return out
}

// arguments reads one argument, or several with commas between them.
func (p *parser) arguments() *node {
	begin := p.pos
	first := p.argument()
	if first.kind == parameter {
		return first
	}
	out := []*node{first}
	for {
		before := p.pos
		p.space()
		if p.at(0) != ',' {
			p.pos = before
			break
		}
		p.pos++
		p.lines()
		out = append(out, p.argument())
	}
	if len(out) == 1 {
		return first
	}
	return p.made(list, begin, "", out...)
}

// argument reads one word of a command.
func (p *parser) argument() *node {
	begin := p.pos
	r, next := p.at(0), p.at(1)
	switch {
	case r == '-' && (unicode.IsLetter(next) || next == '_' || next == '?'):
		return p.parameter()
	case r == '(' || r == '{' || r == '\'' || r == '"':
		return p.members(begin, p.atom())
	case r == '@' && next != 0 && (strings.ContainsRune("({'\"", next) || isName(next)):
		return p.members(begin, p.atom())
	case r == '$' && (isName(next) || next == '{' || next == '('):
		n := p.members(begin, p.atom())
		if endsWord(p.at(0)) {
			return n
		}
		if n.kind != member || n.kids[0].kind != variable { // not read twice: it may be deep
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
	for r := p.at(0); !endsWord(r) && r != ':' && r != '\'' && r != '"' && r != '='; r = p.at(0) {
		if r == '.' && unicode.IsDigit(p.at(1)) || r == '`' || r == '$' {
			p.pos = begin
			return p.generic()
		}
		p.pos++
	}
	n := p.made(parameter, begin, strings.ToLower(string(p.src[begin+1:p.pos])))
	switch {
	case p.at(0) == ':':
		if p.pos++; !endsWord(p.at(0)) || p.at(0) == '(' || p.at(0) == '{' {
			n.kids = []*node{p.arguments()}
		}
	case !endsWord(p.at(0)): // a program's own way: -Dname=value
		p.pos = begin
		return p.generic()
	}
	return n
}

// generic reads a word that may have strings and variables in it.
func (p *parser) generic(kids ...*node) *node {
	begin := p.pos
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
	for !endsWord(p.at(0)) {
		switch r := p.at(0); {
		case r == '`':
			b.WriteString(p.escape())
		case r == '\'':
			b.WriteString(p.single().text)
		case r == '"':
			flush()
			kids = append(kids, p.double())
		case r == '$' && p.at(1) == '(' || r == '$' && (isName(p.at(1)) || p.at(1) == '{'):
			flush()
			kids = append(kids, p.atom())
		default:
			b.WriteRune(r)
			p.pos++
		}
	}
	flush()
	if len(kids) == 1 {
		kids[0].pos, kids[0].end = begin, p.pos
		return kids[0]
	}
	if len(kids) == 0 {
		return p.made(literal, begin, "")
	}
	return p.made(expanded, begin, "", kids...)
}

// double reads a string in double quotes.
func (p *parser) double() *node {
	begin := p.pos
	p.pos++
	return p.parts(begin, func() int {
		if p.at(0) == '"' && p.at(1) != '"' {
			return 1
		}
		return 0
	})
}

// hereExpanded reads @" to a line that begins with "@.
func (p *parser) hereExpanded() *node {
	begin := p.pos
	p.header()
	if p.has("\n\"@") {
		p.pos += 3
		return p.made(literal, begin, "")
	}
	p.pos = min(p.pos+1, len(p.src))
	return p.parts(begin, func() int {
		switch {
		case p.has("\r\n\"@"):
			return 4
		case p.has("\n\"@"):
			return 3
		}
		return 0
	})
}

// parts reads a string in which variables and $( ) are expanded; end tells how
// many characters end it here.
func (p *parser) parts(begin int, end func() int) *node {
	out := p.made(expanded, begin, "")
	here := p.src[begin] == '@'
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out.kids = append(out.kids, p.made(literal, begin, b.String()))
			b.Reset()
		}
	}
	for {
		if n := end(); n > 0 {
			flush()
			p.pos += n
			out.end = p.pos
			return out
		}
		switch r := p.at(0); {
		case p.ended():
			flush()
			return out
		case r == '`':
			b.WriteString(p.escape())
		case p.has(`""`) && !here:
			b.WriteRune('"')
			p.pos += 2
		case r == '$' && (p.at(1) == '(' || p.at(1) == '{' || isName(p.at(1))):
			flush()
			at := p.pos
			if p.at(1) == '(' {
				out.kids = append(out.kids, p.atom())
				continue
			}
			p.pos++
			out.kids = append(out.kids, p.variable(at, true))
		default:
			b.WriteRune(r)
			p.pos++
		}
	}
}
