package winscript

import (
	"strings"
	"unicode"
)

// maxDepth is how deep brackets are followed: PowerShell's own parser gives up
// at some hundreds.
const maxDepth = 200

// parser reads statements. It takes what it doesn't know for words:
// whether PowerShell takes a script is internal/powershell's to tell.
type parser struct {
	scanner
	depth int
}

// parse reads a PowerShell script.
func parse(text string) *node {
	p := &parser{scanner: newScanner(text)}
	return p.statements(0)
}

// statements reads up to a bracket that closes them, which is 0 for the whole
// script.
func (p *parser) statements(closing rune) *node {
	out := p.made(block, p.pos, "")
	if p.depth++; p.depth > maxDepth {
		p.pos = len(p.src)
		return out
	}
	defer func() { p.depth-- }()
	for {
		for p.lines(); p.at(0) == ';'; p.lines() {
			p.pos++
		}
		switch r := p.at(0); {
		case p.ended():
			out.end = p.pos
			return out
		case r == closing:
			p.pos++
			out.end = p.pos
			return out
		case r == ')' || r == '}':
			p.pos++
			continue
		}
		before := p.pos
		if s := p.statement(out); s != nil {
			out.kids = append(out.kids, s)
		}
		if p.pos == before {
			p.pos++
		}
	}
}

// word is the bare word at this place, in lower case.
func (p *parser) word() string {
	n := 0
	for unicode.IsLetter(p.at(n)) {
		n++
	}
	if r := p.at(n); n == 0 || isName(r) || r != 0 && strings.ContainsRune("-\\./:", r) {
		return ""
	}
	return strings.ToLower(string(p.src[p.pos : p.pos+n]))
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

func (p *parser) statement(in *node) *node {
	begin := p.pos
	if p.at(0) == ':' && isName(p.at(1)) { // a label
		for p.pos++; isName(p.at(0)); p.pos++ {
		}
		p.space()
		begin = p.pos
	}
	word := p.word()
	take := func() { p.pos += len([]rune(word)); p.lines() }
	switch word {
	case "function", "filter", "workflow":
		take()
		return p.function(begin)
	case "param":
		if p.pos += 5; p.follows('(') {
			p.lines()
			in.params = p.parameters()
			return nil
		}
		p.pos = begin
	case "if", "while", "for", "foreach", "switch":
		if p.pos += len(word); p.follows('(') || word != "if" && p.follows('-') {
			p.pos = begin
			take()
			return p.controlled(begin, word)
		}
		p.pos = begin
	case "do", "try", "trap", "begin", "process", "end", "dynamicparam", "clean", "finally", "else":
		if p.pos += len(word); p.follows('{') || word == "trap" {
			p.pos = begin
			take()
			return p.bodies(begin, word)
		}
		p.pos = begin
	case "class", "enum":
		for !p.ended() && p.at(0) != '{' && p.at(0) != '\n' {
			p.pos++
		}
		p.lines()
		if p.at(0) == '{' {
			p.block()
		}
		return p.made(literal, begin, word)
	case "return", "throw", "exit", "break", "continue":
		p.pos += len(word)
		p.space()
		j := p.made(jump, begin, word)
		if !p.stops() {
			j.kids = append(j.kids, p.pipeline())
		}
		return j
	}
	return p.pipeline()
}

// stops reports whether a statement ends here.
func (p *parser) stops() bool {
	r := p.at(0)
	return r == 0 || r == '\n' || r == ';' || r == ')' || r == '}'
}

func (p *parser) function(begin int) *node {
	from := p.pos
	for !endsWord(p.at(0)) {
		p.pos++
	}
	f := p.made(function, begin, strings.ToLower(string(p.src[from:p.pos])))
	p.lines()
	var params []*node
	if p.at(0) == '(' {
		params = p.parameters()
		p.lines()
	}
	body := p.block()
	body.params = append(body.params, params...)
	f.kids = []*node{body}
	return f
}

// parameters reads ( $a, [type] $b = 1 ), of which the variables with their
// defaults stay.
func (p *parser) parameters() []*node {
	p.pos++
	inner := p.statements(')')
	var out []*node
	var find func(n *node)
	find = func(n *node) {
		switch {
		case n.kind == variable:
			out = append(out, &node{kind: assignment, kids: []*node{n, nil}, pos: n.pos})
		case n.kind == assignment && n.kids[0] != nil:
			find(n.kids[0])
			value := n.kids[1]
			if value != nil && value.kind == list && len(value.kids) > 0 { // the comma is between parameters
				value = value.kids[0]
			}
			if len(out) > 0 {
				out[len(out)-1].kids[1] = value
			}
			if rest := n.kids[1]; rest != nil && rest.kind == list {
				for _, k := range rest.kids[1:] {
					find(k)
				}
			}
		case n.kind == list || n.kind == typed || n.kind == pipeline || n.kind == operation:
			for _, k := range n.kids {
				find(k)
			}
		}
	}
	for _, s := range inner.kids {
		find(s)
	}
	return out
}

// block reads { }, or nothing where there is none.
func (p *parser) block() *node {
	if p.at(0) != '{' {
		return p.made(block, p.pos, "")
	}
	begin := p.pos
	p.pos++
	b := p.statements('}')
	b.pos = begin
	return b
}

// condition reads ( ).
func (p *parser) condition() *node {
	p.lines()
	if p.at(0) != '(' {
		return p.made(group, p.pos, "")
	}
	begin := p.pos
	p.pos++
	inner := p.statements(')')
	return &node{kind: group, kids: inner.kids, pos: begin, end: p.pos}
}

// controlled reads what has a condition first.
func (p *parser) controlled(begin int, word string) *node {
	for p.at(0) == '-' { // -parallel, -regex, -file NAME
		p.argument()
		p.lines()
	}
	if word == "foreach" {
		return p.foreach(begin)
	}
	out := p.made(control, begin, word, p.condition())
	p.lines()
	if word == "switch" {
		out.kids = append(out.kids, p.cases()...)
		return out
	}
	out.kids = append(out.kids, p.block())
	for word == "if" {
		before := p.pos
		p.lines()
		next := p.word()
		if next != "else" && next != "elseif" {
			p.pos = before
			break
		}
		p.pos += len(next)
		if next == "elseif" {
			out.kids = append(out.kids, p.condition())
		}
		p.lines()
		out.kids = append(out.kids, p.block())
	}
	return out
}

func (p *parser) foreach(begin int) *node {
	p.lines()
	p.pos++
	p.lines()
	v := p.expression()
	p.lines()
	if p.word() == "in" {
		p.pos += 2
	}
	values := p.statements(')')
	values.kind = group
	p.lines()
	return p.made(loop, begin, "foreach", v, values, p.block())
}

// cases reads the body of a switch: values, each with a block.
func (p *parser) cases() []*node {
	var out []*node
	if p.at(0) != '{' {
		return nil
	}
	p.pos++
	for p.lines(); p.at(0) != '}'; p.lines() {
		before := p.pos
		if p.ended() {
			return out
		}
		p.argument()
		p.lines()
		if p.at(0) == '{' {
			out = append(out, p.block())
		}
		if p.pos == before {
			p.pos++
		}
	}
	p.pos++
	return out
}

// bodies reads what has a block first.
func (p *parser) bodies(begin int, word string) *node {
	out := p.made(control, begin, word)
	for {
		for p.lines(); p.at(0) == '['; p.lines() { // what is caught
			p.primary()
			if p.lines(); p.at(0) == ',' {
				p.pos++
			}
		}
		out.kids = append(out.kids, p.block())
		before := p.pos
		p.lines()
		next := p.word()
		p.pos += len(next)
		switch {
		case word == "try" && (next == "catch" || next == "finally"):
			continue
		case word == "do" && (next == "while" || next == "until"):
			out.kids = append(out.kids, p.condition())
			return out
		}
		p.pos = before
		return out
	}
}

// pipeline reads stages with | between them, and other pipelines behind && and
// ||.
func (p *parser) pipeline() *node {
	out := p.made(pipeline, p.pos, "")
	for {
		before := p.pos
		out.kids = append(out.kids, p.stage())
		p.space()
		if p.at(0) == '\n' { // a | may begin the next line, as of PowerShell 7
			here := p.pos
			if p.lines(); p.at(0) != '|' {
				p.pos = here
			}
		}
		switch {
		case p.has("||"), p.has("&&"):
			p.pos += 2
		case p.at(0) == '|', p.at(0) == '&':
			p.pos++
		case p.stops() || p.pos == before:
			if len(out.kids) == 1 {
				return out.kids[0]
			}
			out.end = p.pos
			return out
		default: // something that isn't known here
			continue
		}
		if p.lines(); p.stops() {
			out.end = p.pos
			return out
		}
	}
}

// stage reads a command, or an expression with what is assigned to it.
func (p *parser) stage() *node {
	begin := p.pos
	if r, next := p.at(0), p.at(1); r == '&' || r == '.' && (unicode.IsSpace(next) || strings.ContainsRune("$('\"{", next) && next != 0) {
		p.pos++
		p.space()
		return p.command(begin, p.argument())
	}
	if !p.beginsExpression() {
		return p.command(begin, p.argument())
	}
	e := p.expression()
	p.space()
	n := 0
	for n < 2 && p.at(n) != 0 && strings.ContainsRune("+-*/%?", p.at(n)) {
		n++
	}
	if p.at(n) != '=' {
		return e
	}
	operator := string(p.src[p.pos : p.pos+n+1])
	p.pos += n + 1
	p.lines()
	return p.made(assignment, begin, operator, e, p.statement(&node{}))
}

func (p *parser) beginsExpression() bool {
	r, next := p.at(0), p.at(1)
	switch {
	case r == 0:
		return true
	case strings.ContainsRune("$('\"{[!,@", r):
		return true
	case r == '-' || r == '+':
		return true
	case unicode.IsDigit(r) || r == '.' && unicode.IsDigit(next):
		return p.number() > 0
	}
	return false
}

// number is how long the number at this place is, 0 for a word that begins with
// a digit, such as 7z.exe.
func (p *parser) number() int {
	n := 0
	for r := p.at(0); unicode.IsDigit(r) || unicode.IsLetter(r) || r == '.' && p.at(n+1) != '.'; r = p.at(n) {
		if unicode.IsLetter(r) && !strings.ContainsRune("xabcdefklmgtpunsyXABCDEFKLMGTPUNSY", r) {
			return 0
		}
		n++
	}
	if n > 0 && p.at(n-1) == '.' || p.at(n) == '-' && unicode.IsLetter(p.at(n+1)) || p.at(n) == ':' || p.at(n) == '\\' {
		return 0
	}
	text := strings.ToLower(string(p.src[p.pos : p.pos+n]))
	if strings.Count(text, ".") > 1 || strings.HasSuffix(text, "exe") || strings.HasSuffix(text, "cmd") {
		return 0
	}
	return n
}
