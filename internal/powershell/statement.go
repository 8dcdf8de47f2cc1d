package powershell

import (
	"slices"
	"strings"
)

// statements goes past statements up to the bracket that closes what they are in,
// which is left to the caller.
func (p *parser) statements() {
	p.enter()
	defer p.leave()
	for {
		p.lines()
		for p.take(";") {
			p.lines()
		}
		if p.end() || p.is(")") || p.is("}") {
			return
		}
		if whole := p.statement(); whole {
			continue
		}
		p.space()
		if !p.end() && !isBreak(p.at(0)) && !strings.ContainsRune(";)}", p.at(0)) {
			p.unexpected()
		}
	}
}

// unexpected fails at what follows a whole statement.
func (p *parser) unexpected() {
	n := 1
	for p.pos+n < len(p.src) && !isSpace(p.at(n)) && !isBreak(p.at(n)) && !strings.ContainsRune(";(){}", p.at(n)) {
		n++
	}
	p.failf("Unexpected token '%s' in expression or statement.", string(p.src[p.pos:p.pos+n]))
}

// keywords begin a statement of their own; others do as commands.
var keywords map[string]func(p *parser, keyword string)

func init() {
	keywords = map[string]func(*parser, string){
		"if": (*parser).ifStatement, "while": (*parser).conditional, "switch": (*parser).switchStatement,
		"for": (*parser).forStatement, "foreach": (*parser).foreachStatement, "do": (*parser).doStatement,
		"try": (*parser).tryStatement, "trap": (*parser).trapStatement, "data": (*parser).dataStatement,
		"function": (*parser).functionStatement, "filter": (*parser).functionStatement, "workflow": (*parser).functionStatement,
		"param": func(p *parser, _ string) { p.parameters("param block") },
		"begin": (*parser).blockAfter, "process": (*parser).blockAfter, "end": (*parser).blockAfter, "dynamicparam": (*parser).blockAfter,
		"class": (*parser).classStatement, "enum": (*parser).classStatement, "interface": (*parser).classStatement,
		"return": (*parser).optional, "throw": (*parser).optional, "exit": (*parser).optional,
		"break": (*parser).optional, "continue": (*parser).optional, "using": (*parser).usingStatement,
	}
}

// statement goes past one, and reports whether another may follow it on its line:
// it ended with a block, or is a param block.
func (p *parser) statement() (whole bool) {
	if p.is(":") && isWord(p.at(1)) { // a loop's label
		for p.pos++; isWord(p.at(0)); p.pos++ {
		}
		p.lines()
	}
	word := p.word()
	parse := keywords[word]
	if parse == nil || p.continues(len([]rune(word))) {
		p.pipeline("")
		return slices.Contains([]string{"param", "class", "enum"}, p.word()) // behind its attributes
	}
	p.pos += len([]rune(word))
	parse(p, word)
	return strings.ContainsRune(")}", p.src[p.pos-1])
}

// continues reports whether a word of n characters goes on as a command's name
// does: foreach-object, exit.exe. A keyword ends where a bracket begins.
func (p *parser) continues(n int) bool {
	r := p.at(n)
	return isDash(r) || r != 0 && strings.ContainsRune(`.\/:=?*+`, r)
}

// block is { } after a keyword.
func (p *parser) block(of string) {
	p.lines()
	if !p.is("{") {
		p.failf("Missing statement block after %s.", of)
	}
	p.group("{")
}

func (p *parser) blockAfter(keyword string) {
	p.space()
	if p.lookahead("{") {
		p.block(keyword)
		return
	}
	p.rest() // a command of this name
}

// lookahead reports whether the text comes next, lines apart at most.
func (p *parser) lookahead(text string) bool {
	from := p.pos
	defer func() { p.pos = from }()
	p.lines()
	return p.is(text)
}

// condition is ( ) after a keyword.
func (p *parser) condition(of string) {
	p.lines()
	from := p.pos
	if !p.take("(") {
		p.failf("Missing '(' after '%s' in %s statement.", of, of)
	}
	p.lines()
	if p.is(")") {
		p.failf("Missing condition in %s statement after '%s ('.", of, of)
	}
	p.statements()
	p.want(")", from, of+" statement")
}

func (p *parser) conditional(keyword string) {
	p.condition(keyword)
	p.block(keyword + " ( condition )")
}

func (p *parser) ifStatement(keyword string) {
	p.conditional(keyword)
	for {
		from := p.pos
		p.lines()
		switch word := p.word(); {
		case word == "elseif":
			p.pos += len(word)
			p.conditional(word)
		case word == "else" && !p.continues(len(word)):
			p.pos += len(word)
			p.block("'else' keyword")
			return
		default:
			p.pos = from
			return
		}
	}
}

func (p *parser) switchStatement(keyword string) {
	for p.lines(); isDash(p.at(0)); p.lines() {
		p.argument()
	}
	if p.is("(") {
		p.condition(keyword)
	} else { // of -file
		p.argument()
	}
	p.lines()
	from := p.pos
	if !p.take("{") {
		p.failf("Missing '{' in switch statement.")
	}
	for {
		p.lines()
		for p.take(";") {
			p.lines()
		}
		if p.end() || p.is("}") {
			break
		}
		p.argument()
		for p.space(); !p.end() && !p.is("{") && !isBreak(p.at(0)); p.space() {
			p.argument()
		}
		p.block("switch clause")
	}
	p.want("}", from, "switch statement")
}

func (p *parser) forStatement(string) {
	p.lines()
	from := p.pos
	if !p.take("(") {
		p.failf("Missing opening '(' after keyword 'for'.")
	}
	p.statements()
	p.want(")", from, "for statement")
	p.block("for loop")
}

func (p *parser) foreachStatement(string) {
	for p.lines(); isDash(p.at(0)); p.lines() { // -parallel
		p.argument()
	}
	from := p.pos
	if !p.take("(") {
		p.failf("Missing opening '(' after keyword 'foreach'.")
	}
	p.lines()
	if !p.is("$") {
		p.failf("Missing variable name after foreach.")
	}
	p.variable()
	p.lines()
	if p.word() != "in" {
		p.failf("Missing 'in' after variable in foreach loop.")
	}
	p.pos += len("in")
	p.lines()
	if p.is(")") {
		p.failf("Missing expression after 'in' in foreach loop.")
	}
	p.statements()
	p.want(")", from, "foreach statement")
	p.block("foreach loop")
}

func (p *parser) doStatement(string) {
	p.block("'do' keyword")
	p.lines()
	word := p.word()
	if word != "while" && word != "until" {
		p.failf("Missing while or until keyword in do loop.")
	}
	p.pos += len(word)
	p.condition(word)
}

func (p *parser) tryStatement(string) {
	from := p.pos
	p.block("'try' keyword")
	caught := false
	for {
		before := p.pos
		p.lines()
		word := p.word()
		if word != "catch" && word != "finally" || p.continues(len(word)) {
			p.pos = before
			break
		}
		p.pos += len(word)
		for p.lines(); word == "catch" && p.is("["); p.lines() {
			p.brackets("[")
			p.lines()
			p.take(",")
		}
		p.block(word)
		caught = true
	}
	if !caught {
		p.failAt(from, "The Try statement is missing its Catch or Finally block.")
	}
}

func (p *parser) trapStatement(string) {
	if p.lines(); p.is("[") {
		p.brackets("[")
	}
	p.block("trap")
}

func (p *parser) dataStatement(keyword string) {
	for p.space(); !p.end() && !isBreak(p.at(0)) && !p.is("{"); p.space() {
		p.argument()
	}
	p.blockAfter(keyword)
}

func (p *parser) functionStatement(keyword string) {
	p.lines()
	if p.is("{") || p.is("(") || p.end() {
		p.failf("Missing name after %s keyword.", keyword)
	}
	p.bare()
	if p.lines(); p.is("(") {
		p.parameters("function parameter list")
	}
	p.lines()
	if !p.is("{") {
		p.failf("Missing function body in function declaration.")
	}
	p.group("{")
}

// parameters is ( ) of a param block or a function.
func (p *parser) parameters(of string) {
	p.lines()
	from := p.pos
	if !p.take("(") {
		p.failf("Missing '(' in %s.", of)
	}
	for {
		for p.lines(); p.is("["); p.lines() {
			p.brackets("[")
		}
		if p.is("$") {
			p.variable()
			if p.lines(); p.take("=") {
				p.lines()
				p.expression(false)
			}
		}
		p.lines()
		if !p.take(",") {
			break
		}
	}
	if !p.is(")") {
		p.failAt(from, "Missing ')' in %s.", of)
	}
	p.pos++
}

// classStatement is lenient: an answer file's script has no classes, and what is
// in brackets has to close.
func (p *parser) classStatement(keyword string) {
	for p.lines(); !p.end() && !p.is("{"); p.lines() {
		if strings.ContainsRune(";)}", p.at(0)) {
			p.failf("Missing '{' in %s body.", keyword)
		}
		p.skim()
	}
	p.brackets("{")
}

// usingStatement is one line.
func (p *parser) usingStatement(string) { p.rest() }

// rest is a command's arguments up to the end of the statement.
func (p *parser) rest() {
	for p.space(); !p.closesCommand(); p.space() {
		p.argument()
	}
}

func (p *parser) optional(string) {
	if p.space(); !p.end() && !isBreak(p.at(0)) && !strings.ContainsRune(";)}|", p.at(0)) {
		p.pipeline("")
	}
}

// brackets is a pair of brackets whose content isn't looked at, but for strings,
// comments and brackets in it: types, attributes, classes.
func (p *parser) brackets(open string) {
	p.enter()
	defer p.leave()
	closing := closes[open]
	from := p.pos
	p.pos += len(open)
	for p.lines(); !p.is(closing); p.lines() {
		if p.end() || strings.ContainsRune(")}]", p.at(0)) {
			p.want(closing, from, "an attribute, a type or a class")
		}
		p.skim()
	}
	p.pos++
}

var closes = map[string]string{"(": ")", "$(": ")", "@(": ")", "{": "}", "[": "]"}

// skim goes past one thing of what is between brackets.
func (p *parser) skim() {
	switch r := p.at(0); {
	case p.isHere():
		p.here()
	case isSingle(r):
		p.literal()
	case isDouble(r):
		p.expandable()
	case slices.Contains([]rune("([{"), r):
		p.brackets(string(r))
	case r == '`':
		p.pos = min(p.pos+2, len(p.src))
	default:
		p.pos++
	}
}

// group is brackets with statements in them.
func (p *parser) group(open string) {
	from := p.pos
	p.pos += len(open)
	p.statements()
	what := "expression"
	if open == "{" {
		what = "statement block or type definition"
	}
	p.want(closes[open], from, what)
}
