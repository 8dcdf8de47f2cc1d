package powershell

import "strings"

// command is a command with its arguments.
func (p *parser) command() {
	if p.take("&") || p.is(".") && (isSpace(p.at(1)) || strings.ContainsRune("$({", p.at(1)) || isSingle(p.at(1)) || isDouble(p.at(1))) && p.take(".") {
		p.space()
		if p.closesPipe() {
			p.failf("Unexpected token '&' in expression or statement.")
		}
	}
	p.argument()
	p.rest()
}

// closesCommand reports whether a command's arguments end here.
func (p *parser) closesCommand() bool {
	return p.end() || isBreak(p.at(0)) || strings.ContainsRune(";)}|&", p.at(0))
}

// argument is one argument, or a part of one: what follows without white space is
// the next.
func (p *parser) argument() {
	switch r := p.at(0); {
	case p.is("--%"):
		for !p.end() && !isBreak(p.at(0)) {
			p.pos++
		}
	case r == ',':
		p.pos++
		p.lines()
	case p.redirection():
	case r == '@' && !p.is("@{") && !p.is("@(") && !p.isHere():
		p.pos++
	case r == '$' && !p.is("$(") && !p.is("${") && !isWord(p.at(1)) && !strings.ContainsRune("$?^:", p.at(1)):
		p.pos++
	case r == '$' || r == '(' || r == '{' || r == '@' || isSingle(r) || isDouble(r):
		p.value()
	default:
		p.bare()
	}
}

// bare is a word without quotes: in it quotes count, and brackets and the like
// end it.
func (p *parser) bare() {
	from := p.pos
	for !p.end() && !isSpace(p.at(0)) && !isBreak(p.at(0)) && !strings.ContainsRune("(){};,|&", p.at(0)) {
		switch r := p.at(0); {
		case r == '`' && isBreak(p.at(1)):
			if p.pos == from {
				p.space()
			}
			return
		case r == '`':
			p.pos = min(p.pos+2, len(p.src))
		case isSingle(r):
			p.literal()
		case isDouble(r):
			p.expandable()
		case p.is("$("):
			p.group("$(")
		case p.is("${"):
			p.braced()
		default:
			p.pos++
		}
	}
	if p.pos == from {
		p.unexpected()
	}
}

// redirections are those behind an expression.
func (p *parser) redirections() {
	for p.space(); p.redirection(); p.space() {
	}
}

// redirection is >, 2>&1 and their kind, with the file.
func (p *parser) redirection() bool {
	n := 0
	if r := p.at(0); (r >= '1' && r <= '6' || r == '*') && p.at(1) == '>' {
		n = 1
	}
	if p.at(n) == '<' && n == 0 {
		p.failf("The '<' operator is reserved for future use.")
	}
	if p.at(n) != '>' {
		return false
	}
	p.pos += n + 1
	if p.take("&") {
		p.pos++
		return true
	}
	p.take(">")
	p.space()
	if p.closesCommand() {
		p.failf("Missing file specification after redirection operator.")
	}
	for p.argument(); !p.closesCommand() && !isSpace(p.at(0)) && p.at(0) != ','; p.argument() {
	}
	return true
}
