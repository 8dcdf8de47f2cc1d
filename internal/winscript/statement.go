package winscript

import "strings"

// statements reads up to the bracket that closes them, and past it: 0 is the end
// of the script. They are in what began at from.
func (p *parser) statements(closing rune, from int, of string) *node {
	out := p.made(block, p.pos, "")
	defer p.leave()
	for deep := p.enter(); !deep; {
		for p.lines(); p.take(";"); p.lines() {
		}
		switch {
		case p.end() && closing != 0:
			p.failAt(from, "Missing closing '%c' in %s.", closing, of)
			fallthrough
		case p.end(), p.at(0) == closing:
			p.skip(1)
			out.end = p.pos
			return out
		case p.in(0, ")}"):
			p.failf("Unexpected token '%c' in expression or statement.", p.at(0))
			p.pos++
			continue
		}
		before := p.pos
		s, whole := p.statement(out)
		if s != nil {
			if n := len(out.kids); n > 0 && s.isAttribute() && out.kids[n-1].isAttribute() {
				out.kids = out.kids[:n-1]
			}
			out.kids = append(out.kids, s)
		}
		if p.space(); !whole && !p.end() && !isBreak(p.at(0)) && !p.in(0, ";)}") {
			p.unexpected()
		}
		if p.pos == before {
			p.pos++
		}
	}
	return out
}

// statement reads one, and reports whether another may follow it on its line: it
// ended with a block, or is a param block. What a block has parameters of is in.
func (p *parser) statement(in *node) (s *node, whole bool) {
	if p.is(":") && isWord(p.at(1)) { // a loop's label
		for p.pos++; isWord(p.at(0)); p.pos++ {
		}
		p.lines()
	}
	begin, word := p.pos, p.keyword()
	p.pos += len([]rune(word))
	switch word {
	case "function", "filter", "workflow":
		s = p.function(begin, word)
	case "param":
		in.params = append(in.params, p.parameters("param block")...)
	case "if", "while":
		s = p.conditional(begin, word)
	case "switch":
		s = p.switched(begin)
	case "for":
		s = p.made(control, begin, word, p.condition("Missing opening '(' after keyword 'for'.", "for statement"), p.block("for loop"))
	case "foreach":
		s = p.foreach(begin)
	case "do":
		s = p.made(control, begin, word, p.block("'do' keyword"))
		p.lines()
		until := p.word()
		if until != "while" && until != "until" {
			p.failf("Missing while or until keyword in do loop.")
			break
		}
		p.pos += len(until)
		s.kids = append(s.kids, p.tested(until))
	case "try":
		s = p.try(begin)
	case "trap":
		if p.lines(); p.is("[") {
			p.brackets()
		}
		s = p.made(control, begin, word, p.block(word))
	case "class", "enum", "interface": // what is in brackets has to close
		for p.lines(); !p.end() && !p.in(0, "{;)}"); p.lines() {
			p.skim()
		}
		if !p.is("{") {
			p.failf("Missing '{' in %s body.", word)
			return nil, true
		}
		p.brackets()
		s = p.made(literal, begin, word)
	case "return", "throw", "exit", "break", "continue":
		p.space()
		s = p.made(jump, begin, word)
		if !p.closesPipe() {
			s.kids = append(s.kids, p.pipeline())
		}
	case "begin", "process", "end", "dynamicparam", "clean":
		if p.follows('{') {
			s = p.made(control, begin, word, p.block(word))
			break
		}
		fallthrough
	default:
		p.pos = begin
		s = p.pipeline()
		next := p.word()
		return s, next == "param" || next == "class" || next == "enum" // behind its attributes
	}
	return s, p.at(-1) == ')' || p.at(-1) == '}'
}

// keyword is the word here, "" where it begins a command's name: foreach-object,
// exit.exe.
func (p *parser) keyword() string {
	word := p.word()
	if p.in(len([]rune(word)), `-.\/:=?*+`) {
		return ""
	}
	return word
}

// block reads { } behind something, or nothing where there is none.
func (p *parser) block(of string) *node {
	if p.lines(); p.is("{") {
		return p.group("{")
	}
	p.failf("Missing statement block after %s.", of)
	return p.made(block, p.pos, "")
}

// condition reads ( ) of a statement.
func (p *parser) condition(missing, of string) *node {
	p.lines()
	begin := p.pos
	if !p.take("(") {
		p.failf("%s", missing)
		return p.made(group, begin, "")
	}
	inner := p.statements(')', begin, of)
	return p.made(group, begin, "", inner.kids...)
}

// tested reads a condition that can't be empty.
func (p *parser) tested(of string) *node {
	c := p.condition("Missing '(' after '"+of+"' in "+of+" statement.", of+" statement")
	if len(c.kids) == 0 && p.at(-1) == ')' {
		p.failAt(p.pos-1, "Missing condition in %s statement after '%s ('.", of, of)
	}
	return c
}

// conditional reads what has a condition and a block, and the elses of an if.
func (p *parser) conditional(begin int, word string) *node {
	out := p.made(control, begin, word, p.tested(word), p.block(word+" ( condition )"))
	for word == "if" {
		before := p.pos
		p.lines()
		switch next := p.keyword(); next {
		case "elseif":
			p.pos += len(next)
			out.kids = append(out.kids, p.tested(next), p.block(next+" ( condition )"))
			continue
		case "else":
			p.pos += len(next)
			out.kids = append(out.kids, p.block("'else' keyword"))
			return out
		}
		p.pos = before
		break
	}
	return out
}

// switched reads a switch, of which its value and blocks stay.
func (p *parser) switched(begin int) *node {
	for p.lines(); p.is("-"); p.lines() {
		p.argument()
	}
	out := p.made(control, begin, "switch")
	if p.is("(") {
		out.kids = append(out.kids, p.tested("switch"))
	} else { // of -file
		out.kids = append(out.kids, p.argument())
	}
	p.lines()
	from := p.pos
	if !p.take("{") {
		p.failf("Missing '{' in switch statement.")
		return out
	}
	for {
		for p.lines(); p.take(";"); p.lines() {
		}
		if p.end() || p.is("}") {
			break
		}
		for before := -1; p.pos > before && !p.end() && !isBreak(p.at(0)) && (before < 0 || !p.is("{")); p.space() {
			before = p.pos
			if p.words(); p.pos == before {
				p.unexpected()
			}
		}
		if b := p.block("switch clause"); p.at(-1) == '}' {
			out.kids = append(out.kids, b)
		} else {
			p.skip(1)
		}
	}
	if !p.take("}") {
		p.failAt(from, "Missing closing '}' in switch statement.")
	}
	return out
}

func (p *parser) foreach(begin int) *node {
	for p.lines(); p.is("-"); p.lines() { // -parallel
		p.argument()
	}
	from := p.pos
	if !p.take("(") {
		p.failf("Missing opening '(' after keyword 'foreach'.")
	}
	if p.lines(); !p.is("$") {
		p.failf("Missing variable name after foreach.")
	}
	v := p.variable(false)
	if p.lines(); p.word() == "in" {
		p.pos += len("in")
	} else {
		p.failf("Missing 'in' after variable in foreach loop.")
	}
	if p.follows(')') {
		p.lines()
		p.failf("Missing expression after 'in' in foreach loop.")
	}
	values := p.statements(')', from, "foreach statement")
	values.kind = group
	return p.made(loop, begin, "foreach", v, values, p.block("foreach loop"))
}

func (p *parser) try(begin int) *node {
	from := p.pos
	out := p.made(control, begin, "try", p.block("'try' keyword"))
	for {
		before := p.pos
		p.lines()
		word := p.keyword()
		if word != "catch" && word != "finally" {
			p.pos = before
			break
		}
		p.pos += len(word)
		for p.lines(); word == "catch" && p.is("["); p.lines() {
			p.brackets()
			p.lines()
			p.take(",")
		}
		out.kids = append(out.kids, p.block(word))
	}
	if len(out.kids) == 1 {
		p.failAt(from, "The Try statement is missing its Catch or Finally block.")
	}
	return out
}

func (p *parser) function(begin int, keyword string) *node {
	if p.lines(); p.end() || p.in(0, "{(") {
		p.failf("Missing name after %s keyword.", keyword)
	}
	f := p.made(function, begin, strings.ToLower(p.generic().text))
	var params []*node
	if p.follows('(') {
		params = p.parameters("function parameter list")
	}
	body := p.made(block, p.pos, "")
	if p.lines(); p.is("{") {
		body = p.group("{")
	} else {
		p.failf("Missing function body in function declaration.")
	}
	body.params = append(body.params, params...)
	f.kids = []*node{body}
	return f
}

// parameters reads ( $a, [type] $b = 1 ), of which the variables with their
// defaults stay.
func (p *parser) parameters(of string) (out []*node) {
	p.lines()
	from := p.pos
	if !p.take("(") {
		p.failf("Missing '(' in %s.", of)
		return nil
	}
	for {
		for p.lines(); p.is("["); p.lines() {
			p.brackets()
		}
		if p.is("$") {
			one := p.made(assignment, p.pos, "", p.variable(false), nil)
			if p.lines(); p.take("=") {
				p.lines()
				one.kids[1] = p.expression(false)
			}
			out = append(out, one)
		}
		if p.lines(); !p.take(",") {
			break
		}
	}
	if !p.take(")") {
		p.failAt(from, "Missing ')' in %s.", of)
		p.statements(')', from, of)
	}
	return out
}

// brackets goes past a pair of brackets whose content isn't looked at, but for
// strings, comments and brackets in it: types, attributes, classes.
func (p *parser) brackets() {
	closing := map[string]string{"(": ")", "{": "}", "[": "]"}
	from := p.pos
	end := closing[p.skip(1)]
	defer p.leave()
	if p.enter() {
		return
	}
	for p.lines(); !p.take(end); p.lines() {
		switch {
		case p.end():
			p.failAt(from, "Missing closing '%s' in an attribute, a type or a class.", end)
			return
		case p.in(0, ")}]"):
			p.failf("Unexpected token '%c' in expression or statement.", p.at(0))
			return
		}
		p.skim()
	}
}

// skim goes past one thing of what is between brackets.
func (p *parser) skim() {
	switch {
	case p.isHere(), isQuote(p.at(0)):
		p.text()
	case p.in(0, "([{"):
		p.brackets()
	case p.is("`"):
		p.skip(2)
	default:
		p.pos++
	}
}

// group reads brackets with statements in them.
func (p *parser) group(open string) *node {
	begin := p.pos
	p.skip(len(open))
	if open == "{" {
		b := p.statements('}', begin, "statement block or type definition")
		b.pos = begin
		return b
	}
	inner := p.statements(')', begin, "expression")
	return p.made(group, begin, "", inner.kids...)
}
