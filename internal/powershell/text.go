package powershell

// literal is a string in single quotes.
func (p *parser) literal() {
	from := p.pos
	for p.pos++; ; p.pos++ {
		if p.end() {
			p.failAt(from, "The string is missing the terminator: '.")
		}
		if isSingle(p.at(0)) {
			if !isSingle(p.at(1)) {
				p.pos++
				return
			}
			p.pos++
		}
	}
}

// expandable is a string in double quotes, in which $( ) is script again.
func (p *parser) expandable() {
	from := p.pos
	for p.pos++; ; {
		switch r := p.at(0); {
		case p.end():
			p.failAt(from, `The string is missing the terminator: ".`)
		case isDouble(r) && isDouble(p.at(1)):
			p.pos += 2
		case isDouble(r):
			p.pos++
			return
		default:
			p.character()
		}
	}
}

// character goes past one of an expandable string.
func (p *parser) character() {
	switch {
	case p.is("`"):
		p.pos = min(p.pos+2, len(p.src))
	case p.is("$("):
		p.group("$(")
	case p.is("${"):
		p.braced()
	default:
		p.pos++
	}
}

// braced is a variable's name in braces, which may have almost anything in it.
func (p *parser) braced() {
	from := p.pos
	for p.pos += 2; !p.take("}"); p.pos++ {
		if p.end() {
			p.failAt(from, "The closing '}' of the variable's name is missing.")
		}
		if p.is("`") {
			p.pos++
		}
	}
}

// isHere reports whether a here-string begins here.
func (p *parser) isHere() bool { return p.is("@") && (isSingle(p.at(1)) || isDouble(p.at(1))) }

// here is a here-string: its lines are between @" and "@, each at the end and the
// beginning of a line.
func (p *parser) here() {
	from, quote := p.pos, isDouble
	if isSingle(p.at(1)) {
		quote = isSingle
	}
	p.pos += 2
	for isSpace(p.at(0)) {
		p.pos++
	}
	if !isBreak(p.at(0)) && !p.end() {
		p.failf("No characters are allowed after a here-string header but before the end of the line.")
	}
	for !p.end() {
		switch {
		case isBreak(p.at(0)) && quote(p.at(1)) && p.at(2) == '@':
			p.pos += 3
			return
		case quote('"') && !isBreak(p.at(0)):
			p.character()
		default:
			p.pos++
		}
	}
	p.failAt(from, "The string is missing the terminator: %c@.", p.src[from+1])
}
