package winscript

import (
	"slices"
	"strings"
	"unicode"
)

// pipeline reads stages with | between them: a command, or an expression with
// what is assigned to it.
func (p *parser) pipeline() *node {
	out := p.made(pipeline, p.pos, "")
	for {
		switch {
		case p.closesPipe():
			p.failf("An empty pipe element is not allowed.")
			if !p.is("|") {
				return out
			}
		case !p.isExpression():
			out.kids = append(out.kids, p.command())
		default:
			if len(out.kids) > 0 {
				p.failf("Expressions are only allowed as the first element of a pipeline.")
			}
			out.kids = append(out.kids, p.assigned())
			into := p.made(command, p.pos, "", p.made(literal, p.pos, ""))
			for file := p.redirected(); file != nil; file = p.redirected() {
				into.kids, into.end = append(into.kids, file), p.pos
				p.space()
			}
			if len(into.kids) > 1 {
				out.kids = append(out.kids, into)
			}
		}
		if p.space(); isBreak(p.at(0)) && p.follows('|') { // as of PowerShell 7
			p.lines()
			p.failf("An empty pipe element is not allowed.")
		}
		switch {
		case p.is("||"), p.is("&&"): // likewise
			p.failf("The token '%c%c' is not a valid statement separator in this version.", p.at(0), p.at(0))
			p.pos += 2
		case !p.take("|"):
			if len(out.kids) == 1 {
				return out.kids[0]
			}
			out.end = p.pos
			return out
		}
		p.lines()
	}
}

func (p *parser) closesPipe() bool {
	return p.end() || isBreak(p.at(0)) || p.in(0, ";)}|")
}

// isExpression reports whether what begins here is a value: anything else is a
// command's name.
func (p *parser) isExpression() bool {
	switch {
	case p.in(0, `$([{!,'"`):
		return true
	case p.is("@"):
		return p.in(1, `({'"`)
	case p.in(0, "-+"):
		return p.unary() > 0
	}
	return p.number() > 0
}

// assigned reads an expression, and the statement that is assigned to it.
func (p *parser) assigned() *node {
	begin := p.pos
	e := p.expression(true)
	n := p.assignment()
	if n == 0 {
		return e
	}
	if p.is("?") { // as of PowerShell 7
		p.unexpected()
	}
	operator := p.skip(n)
	p.lines()
	var value *node
	if p.closesPipe() {
		p.failf("You must provide a value expression following the '=' operator.")
	} else {
		value, _ = p.statement(&node{})
	}
	return p.made(assignment, begin, operator, e, value)
}

// assignment is the length of = and its kind, 0 for none.
func (p *parser) assignment() int {
	switch {
	case p.is("="):
		return 1
	case p.in(0, "+-*/%") && p.at(1) == '=':
		return 2
	case p.is("??="):
		return 3
	}
	return 0
}

// number is the length of the number here, 0 for none: 7z is a command's name.
func (p *parser) number() int {
	n := 0
	if p.is(".") {
		n = 1
	}
	if !p.in(n, "0123456789") {
		return 0
	}
	hex := p.is("0") && p.in(1, "xX")
	for isWord(p.at(n)) || p.at(n) == '.' && p.at(n+1) != '.' && !unicode.IsLetter(p.at(n+1)) || !hex && n > 0 && p.in(n, "-+") && p.in(n-1, "eE") {
		n++
	}
	text := strings.ToLower(string(p.src[p.pos : p.pos+n]))
	number := hex && strings.Trim(text[2:], "0123456789abcdefklmgtp") == "" || strings.Trim(text, "0123456789.edlkmgtpb-+") == ""
	if number && !p.in(n, `\:`) {
		return n
	}
	return 0
}

// operators are the words of binary operators, less the c and i in front of some.
var operators = strings.Fields(`and or xor band bor bxor f is isnot as shl shr
	eq ne gt ge lt le like notlike match notmatch replace contains notcontains in notin split join`)

// unary is the length of the unary operator here, 0 for none.
func (p *parser) unary() int {
	switch word := p.operatorWord(); {
	case p.in(0, "!,"):
		return 1
	case p.is("++"), p.is("--") && !isWord(p.at(2)):
		return 2
	case slices.Contains([]string{"not", "bnot", "join", "split", "csplit", "isplit"}, word):
		return 1 + len(word)
	case p.in(0, "-+") && p.in(1, `$(@ .'"-0123456789`):
		return 1
	}
	return 0
}

// operatorWord is the word behind a dash, "" where there is none.
func (p *parser) operatorWord() string {
	if !p.is("-") {
		return ""
	}
	p.pos++
	defer func() { p.pos-- }()
	return p.word()
}

// binary is the length of the binary operator here, 0 for none.
func (p *parser) binary() int {
	word := p.operatorWord()
	switch {
	case p.assignment() > 0:
		return 0
	case p.is(".."):
		return 2
	case p.in(0, "?:"): // as of PowerShell 7
		p.unexpected()
		return 1
	case word != "" && !isOf(rune(word[0]), "0123456789"):
		if !slices.Contains(operators, word) && (!isOf(rune(word[0]), "ci") || !slices.Contains(operators, word[1:])) {
			p.unexpected()
		}
		return 1 + len([]rune(word))
	case p.in(0, "+-*/%"):
		return 1
	}
	return 0
}

// expression reads operands with operators between them. commas says whether they
// make a list: in parameters they part them.
func (p *parser) expression(commas bool) *node {
	begin := p.pos
	left := p.operands(commas, "")
	for {
		p.space()
		n := p.binary()
		if n == 0 {
			return left
		}
		operator := strings.ToLower(p.skip(n))
		p.lines()
		left = p.made(operation, begin, operator, left, p.operands(commas, operator))
	}
}

// operands reads values with commas between them.
func (p *parser) operands(commas bool, after string) *node {
	first := p.operand(after)
	if !commas {
		return first
	}
	return p.listed(first, func() *node { return p.operand(",") })
}

// operand reads one value with the operators in front of it.
func (p *parser) operand(after string) *node {
	begin := p.pos
	defer p.leave()
	if p.enter() {
		return p.made(literal, begin, "")
	}
	if n := p.unary(); n > 0 {
		operator := strings.ToLower(p.skip(n))
		p.lines()
		return p.made(operation, begin, operator, p.operand(after))
	}
	v := p.value()
	if v != nil {
		return v
	}
	if after != "" {
		p.failf("You must provide a value expression following the '%s' operator.", after)
	} else {
		p.unexpected()
	}
	return p.members(p.bare(), false)
}

// bare reads a word among expressions: a hash table's key, say.
func (p *parser) bare() *node {
	begin := p.pos
	for !endsWord(p.at(0)) && !p.in(0, `=.[]'"`) {
		p.pos++
	}
	return p.made(literal, begin, string(p.src[begin:p.pos]))
}

// value reads a value with its members and indexes, and types in front of it; nil
// for none.
func (p *parser) value() *node {
	begin := p.pos
	n := p.atom()
	if n == nil || n.kind != typed || p.is("::") || p.is(".") && p.at(1) != '.' {
		return p.members(n, false)
	}
	p.enter()
	p.space()
	if p.unary() > 0 && !p.is(",") && p.operatorWord() == "" && !isSpace(p.at(1)) { // [int] -1
		n.kids = []*node{p.operand("")}
	} else if v := p.value(); v != nil {
		n.kids = []*node{v}
	}
	p.leave()
	if n.kids == nil {
		p.pos = n.end
	}
	return p.made(typed, begin, n.text, n.kids...)
}

// atom reads a value without what may be in front of it or behind it, nil for none.
func (p *parser) atom() *node {
	begin := p.pos
	switch r := p.at(0); {
	case p.isHere(), isQuote(r):
		return p.text()
	case p.is("@{"):
		return p.table()
	case p.is("@("), p.is("$("):
		return p.group(string(r) + "(")
	case r == '@' && isWord(p.at(1)):
		p.pos++
		return p.made(splat, begin, p.name(false))
	case r == '(':
		return p.parenthesised()
	case r == '{':
		return p.group("{")
	case r == '[':
		p.brackets()
		return p.made(typed, begin, strings.ToLower(strings.Trim(string(p.src[begin:p.pos]), "[]")))
	case r == '$':
		return p.variable(false)
	}
	if n := p.number(); n > 0 {
		return p.made(literal, begin, p.skip(n))
	}
	return nil
}

// parenthesised reads ( ) around one pipeline.
func (p *parser) parenthesised() *node {
	begin := p.pos
	p.pos++
	out := p.made(group, begin, "")
	if p.lines(); p.is(")") {
		p.failf("An expression was expected after '('.")
	} else if s, _ := p.statement(&node{}); s != nil {
		out.kids = []*node{s}
	}
	if p.lines(); !p.is(")") && !p.end() {
		p.failf("Missing closing ')' in expression.")
	}
	rest := p.statements(')', begin, "expression")
	out.kids, out.end = append(out.kids, rest.kids...), p.pos
	return out
}

// members reads what is behind a value without a blank: .name, ::name, [index],
// the arguments of a method, ++ and --. Behind a command's argument a dot is
// less often a member's.
func (p *parser) members(n *node, argument bool) *node {
	for n != nil {
		switch r := p.at(1); {
		case p.is("?.") && (isWord(p.at(2)) || p.at(2) == '$'): // as of PowerShell 7
			if !isWord(p.at(-1)) || n.kind != variable { // $a? is a name, else
				p.unexpected()
			}
			p.pos += 2
			n = p.member(n)
		case p.is("::"):
			p.pos += 2
			n = p.member(n)
		case p.is(".") && (isWord(r) || isOf(r, `$('"`) || !argument && (isSpace(r) || isBreak(r) || r == '{')):
			p.pos++
			n = p.member(n)
		case p.is("["):
			begin := p.pos
			p.pos++
			if p.lines(); p.is("]") {
				p.failf("Array index expression is missing or not valid.")
			}
			index, _ := p.statement(&node{})
			if p.lines(); p.end() {
				p.failAt(begin, "Missing closing ']' in array index expression.")
			} else if !p.take("]") {
				p.failf("Unexpected token '%c' in expression or statement.", p.at(0))
			}
			n = p.made(element, n.pos, "", n, index)
		case p.is("++"), p.is("--"):
			p.pos += 2
		default:
			return n
		}
	}
	return n
}

func (p *parser) member(of *node) *node {
	p.lines()
	from := p.pos
	if p.in(0, `$({'"`) {
		p.atom()
	} else if p.pos += len([]rune(p.word())); p.pos == from {
		p.failf("Missing property name after reference operator.")
	}
	name := strings.Trim(strings.ToLower(string(p.src[from:p.pos])), `'"`)
	switch {
	case p.is("{"): // of ForEach and Where
		return p.made(method, of.pos, name, of, p.group("{"))
	case !p.is("("):
		return p.made(member, of.pos, name, of)
	}
	kids := append([]*node{of}, p.arguments()...)
	return p.made(method, of.pos, name, kids...)
}

// arguments are a method's.
func (p *parser) arguments() (out []*node) {
	from := p.pos
	p.pos++
	for p.lines(); !p.take(")"); p.lines() {
		before := p.pos
		if p.end() {
			p.failAt(from, "Missing closing ')' in expression.")
			return out
		}
		e := p.expression(false)
		if n := p.assignment(); n > 0 {
			p.pos += n
			p.lines()
			p.statement(&node{})
		}
		out = append(out, e)
		if p.lines(); p.take(",") {
			if p.lines(); p.is(")") {
				p.failf("Missing expression after ','.")
			}
		} else if !p.is(")") && !p.end() {
			p.failf("Missing ')' in method call.")
			if p.pos == before {
				p.pos++
			}
		}
	}
	return out
}

// table reads @{ name = value }.
func (p *parser) table() *node {
	begin := p.pos
	p.pos += 2
	out := p.made(table, begin, "")
	defer p.leave()
	for deep := p.enter(); !deep; {
		for p.lines(); p.take(";"); p.lines() {
		}
		if p.end() {
			p.failAt(begin, "Missing closing '}' in hash literal.")
		}
		if p.end() || p.take("}") {
			break
		}
		from := p.pos
		key := p.value()
		if key == nil {
			key = p.bare()
		}
		for p.space(); !p.end() && !isBreak(p.at(0)) && !p.in(0, "=;)}"); p.space() {
			p.skim()
		}
		if !p.take("=") {
			p.failAt(from, "Missing '=' operator after key in hash literal.")
			p.take(")")
			continue
		}
		if p.lines(); p.closesPipe() {
			p.failf("Missing statement after '=' in hash literal.")
		}
		if value, _ := p.statement(&node{}); value != nil {
			out.kids = append(out.kids, key, value)
		}
		if p.space(); !p.end() && !isBreak(p.at(0)) && !p.in(0, ";}") {
			p.unexpected()
			p.take(")")
		}
	}
	out.end = p.pos
	return out
}
