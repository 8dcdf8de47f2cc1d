package winscript

import (
	"strings"
	"unicode"
)

// expression reads operands with operators between them.
func (p *parser) expression() *node {
	begin := p.pos
	left := p.operands()
	for {
		p.space()
		operator := p.operator()
		if operator == "" {
			return left
		}
		p.pos += len([]rune(operator))
		p.lines()
		before := p.pos
		right := p.operands()
		left = p.made(operation, begin, strings.ToLower(operator), left, right)
		if p.pos == before {
			return left
		}
	}
}

// operator is the one at this place between two operands, "" for none.
func (p *parser) operator() string {
	if p.at(0) == '-' && unicode.IsLetter(p.at(1)) {
		n := 1
		for unicode.IsLetter(p.at(n)) {
			n++
		}
		return string(p.src[p.pos : p.pos+n])
	}
	for _, o := range []string{"..", "??", "+", "-", "*", "/", "%", "?", ":"} {
		if p.has(o) && p.at(len(o)) != '=' {
			if o == "-" && p.at(1) == '-' || o == "+" && p.at(1) == '+' {
				return ""
			}
			return o
		}
	}
	return ""
}

// operands reads values with commas between them.
func (p *parser) operands() *node {
	begin := p.pos
	first := p.unary()
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
		out = append(out, p.unary())
	}
	if len(out) == 1 {
		return first
	}
	return p.made(list, begin, "", out...)
}

func (p *parser) unary() *node {
	begin := p.pos
	operator := ""
	switch r := p.at(0); {
	case r == '!' || r == ',':
		operator = string(r)
	case p.has("++") || p.has("--"):
		operator = string(p.src[p.pos : p.pos+2])
	case r == '-' && unicode.IsLetter(p.at(1)):
		operator = p.operator()
	case r == '-' || r == '+':
		operator = string(r)
	default:
		return p.primary()
	}
	if p.depth++; p.depth > maxDepth {
		p.pos = len(p.src)
		return p.made(literal, begin, "")
	}
	defer func() { p.depth-- }()
	p.pos += len([]rune(operator))
	p.lines()
	return p.made(operation, begin, strings.ToLower(operator), p.unary())
}

// primary reads one value with its members.
func (p *parser) primary() *node {
	begin := p.pos
	n := p.atom()
	if n.kind == typed && p.at(0) != ':' && p.at(0) != '.' {
		return p.cast(n)
	}
	return p.members(begin, n)
}

// cast reads what a type in brackets is put before, if anything is.
func (p *parser) cast(n *node) *node {
	if p.depth++; p.depth > maxDepth {
		p.pos = len(p.src)
		return n
	}
	defer func() { p.depth-- }()
	before := p.pos
	if p.space(); p.at(0) == '\n' && p.follows('$') || p.at(0) == '\n' && p.follows('[') { // attributes of a parameter
		p.lines()
	}
	if r := p.at(0); r != 0 && (strings.ContainsRune("$('\"@[{!", r) || unicode.IsDigit(r) || r == '-' && (unicode.IsDigit(p.at(1)) || p.at(1) == '$')) {
		n.kids = []*node{p.unary()}
		n.end = p.pos
		return n
	}
	p.pos = before
	return n
}

func (p *parser) atom() *node {
	begin := p.pos
	switch r := p.at(0); {
	case r == '\'':
		return p.single()
	case r == '"':
		return p.double()
	case p.has("@'"):
		return p.here()
	case p.has(`@"`):
		return p.hereExpanded()
	case p.has("@("), p.has("$("):
		p.pos += 2
		inner := p.statements(')')
		return p.made(group, begin, string(r), inner.kids...)
	case p.has("@{"):
		return p.table()
	case r == '@' && isName(p.at(1)):
		p.pos++
		return p.made(splat, begin, strings.ToLower(p.name(false)))
	case r == '(':
		return p.condition()
	case r == '{':
		return p.block()
	case r == '[':
		return p.typeName()
	case r == '$':
		p.pos++
		return p.variable(begin, false)
	case unicode.IsDigit(r) || r == '.' && unicode.IsDigit(p.at(1)):
		n := max(p.number(), 1)
		p.pos += n
		return p.made(literal, begin, string(p.src[begin:p.pos]))
	}
	return p.bare()
}

func (p *parser) variable(begin int, inString bool) *node {
	name := strings.ToLower(p.name(inString))
	if name == "" {
		return p.made(literal, begin, "$")
	}
	for _, scope := range []string{"script:", "global:", "local:", "private:", "using:", "variable:"} {
		name = strings.TrimPrefix(name, scope)
	}
	return p.made(variable, begin, name)
}

// typeName reads [type], whose brackets may hold others and an attribute's
// arguments.
func (p *parser) typeName() *node {
	begin := p.pos
	depth := 0
	for !p.ended() {
		switch r := p.at(0); {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '\'' || r == '"' || r == '(' || r == '{' || r == '@':
			before := p.pos
			p.atom()
			if p.pos > before {
				continue
			}
		case r == ')' || r == '}' || r == ';':
			return p.made(literal, begin, "[")
		case r == '#' && unicode.IsSpace(p.at(-1)):
			p.space()
			continue
		}
		p.pos++
		if depth == 0 {
			break
		}
	}
	return p.made(typed, begin, strings.ToLower(strings.Trim(string(p.src[begin:p.pos]), "[]")))
}

// bare reads a word among expressions: a property's name, say.
func (p *parser) bare() *node {
	begin := p.pos
	for !endsWord(p.at(0)) && !strings.ContainsRune("=.[]'\"", p.at(0)) {
		p.pos++
	}
	return p.made(literal, begin, string(p.src[begin:p.pos]))
}

// members reads what is behind a value without a blank: .name, ::name, [ ] and
// the arguments of a call.
func (p *parser) members(begin int, n *node) *node {
	for {
		switch {
		case p.has("::"), p.has("?.") && (isName(p.at(2)) || p.at(2) == '$'):
			p.pos += 2
			n = p.member(begin, n)
		case p.at(0) == '.' && p.at(1) != '.' && (isName(p.at(1)) || p.at(1) != 0 && strings.ContainsRune("$('\"", p.at(1))):
			p.pos++
			n = p.member(begin, n)
		case p.at(0) == '[':
			p.pos++
			index := p.until(']')
			n = p.made(element, begin, "", n, index)
		case p.has("++"), p.has("--"):
			p.pos += 2
		default:
			return n
		}
	}
}

// until reads expressions up to a bracket that isn't one of statements' own.
func (p *parser) until(closing rune) *node {
	out := p.made(list, p.pos, "")
	for p.lines(); !p.ended() && p.at(0) != closing && p.at(0) != ')' && p.at(0) != '}'; p.lines() {
		before := p.pos
		out.kids = append(out.kids, p.expression())
		if p.pos == before {
			p.pos++
		}
	}
	if p.at(0) == closing {
		p.pos++
	}
	return out
}

func (p *parser) member(begin int, of *node) *node {
	var name string
	switch p.at(0) {
	case '$', '(', '\'', '"':
		inner := p.pos
		p.atom()
		name = string(p.src[inner:p.pos])
	default:
		from := p.pos
		for isName(p.at(0)) {
			p.pos++
		}
		name = string(p.src[from:p.pos])
	}
	name = strings.Trim(strings.ToLower(name), `'"`)
	if p.at(0) != '(' {
		return p.made(member, begin, name, of)
	}
	args := p.condition()
	return p.made(method, begin, name, append([]*node{of}, args.kids...)...)
}

// table reads @{ name = value }.
func (p *parser) table() *node {
	begin := p.pos
	p.pos += 2
	out := p.made(table, begin, "")
	for {
		for p.lines(); p.at(0) == ';'; p.lines() {
			p.pos++
		}
		switch {
		case p.ended():
			return out
		case p.at(0) == '}':
			p.pos++
			out.end = p.pos
			return out
		case p.at(0) == ')':
			p.pos++
			continue
		}
		before := p.pos
		key := p.primary()
		p.space()
		if p.at(0) == '=' {
			p.pos++
			p.lines()
			if value := p.statement(&node{}); value != nil {
				out.kids = append(out.kids, key, value)
			}
		}
		if p.pos == before {
			p.pos++
		}
	}
}
