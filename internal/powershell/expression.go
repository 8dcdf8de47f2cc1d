package powershell

import (
	"slices"
	"strings"
	"unicode"
)

// pipeline is commands and expressions with | between them, or an assignment.
// after is the operator that it has to follow, "" for none.
func (p *parser) pipeline(after string) {
	for first := true; ; first = false {
		switch {
		case !p.closesPipe():
		case first && after != "":
			p.failf("You must provide a value expression following the '%s' operator.", after)
		default:
			p.failf("An empty pipe element is not allowed.")
		}
		switch is := p.isExpression(); {
		case is && !first:
			p.failf("Expressions are only allowed as the first element of a pipeline.")
		case !is:
			p.command()
		case p.expression(true):
			p.assigned()
			return
		default:
			p.redirections()
		}
		p.space()
		if p.is("||") || p.is("&&") {
			p.failf("The token '%s' is not a valid statement separator in this version.", string(p.src[p.pos:p.pos+2]))
		}
		if !p.take("|") {
			return
		}
		p.lines()
	}
}

func (p *parser) closesPipe() bool {
	return p.end() || isBreak(p.at(0)) || strings.ContainsRune(";)}|", p.at(0))
}

// assigned is what follows = and the like: any statement.
func (p *parser) assigned() {
	p.lines()
	if p.closesPipe() {
		p.failf("You must provide a value expression following the '=' operator.")
	}
	p.statement()
}

// isExpression reports whether what begins here is a value: anything else is a
// command's name.
func (p *parser) isExpression() bool {
	r, next := p.at(0), p.at(1)
	switch {
	case strings.ContainsRune("$([{!,", r), isSingle(r), isDouble(r):
		return true
	case r == '@':
		return next == '(' || next == '{' || p.isHere()
	case isDash(r) || r == '+':
		return p.unary() > 0
	}
	return p.number() > 0
}

// number is the length of the number here, 0 for none: 7z is a command's name.
func (p *parser) number() int {
	n := 0
	if p.at(0) == '.' {
		n = 1
	}
	if r := p.at(n); r < '0' || r > '9' {
		return 0
	}
	hex := strings.EqualFold(string([]rune{p.at(0), p.at(1)}), "0x")
	for isWord(p.at(n)) || p.at(n) == '.' && p.at(n+1) != '.' && !unicode.IsLetter(p.at(n+1)) || !hex && n > 0 && (isDash(p.at(n)) || p.at(n) == '+') && strings.ContainsRune("eE", p.at(n-1)) {
		n++
	}
	text := strings.ToLower(string(p.src[p.pos : p.pos+n]))
	if hex && strings.Trim(text[2:], "0123456789abcdefklmgtpb") == "" || strings.Trim(text, "0123456789.edlkmgtpb-+") == "" {
		if r := p.at(n); r != '\\' && r != '/' && r != ':' {
			return n
		}
		if p.at(n) == '/' {
			return n // a division
		}
	}
	return 0
}

// operators are the words of binary operators, less the c and i in front of some.
var operators = strings.Fields(`and or xor band bor bxor f is isnot as shl shr
	eq ne gt ge lt le like notlike match notmatch replace contains notcontains in notin split join`)

// unary is the length of the unary operator here, 0 for none.
func (p *parser) unary() int {
	r := p.at(0)
	switch {
	case r == '!' || r == ',':
		return 1
	case p.is("++") || isDash(r) && isDash(p.at(1)) && !isWord(p.at(2)):
		return 2
	case r != '+' && !isDash(r):
		return 0
	}
	for _, word := range []string{"not", "bnot", "join", "split", "csplit", "isplit"} {
		if p.operatorWord() == word {
			return 1 + len(word)
		}
	}
	if next := p.at(1); strings.ContainsRune("$(@ .", next) || next >= '0' && next <= '9' || isSingle(next) || isDouble(next) || isDash(next) {
		return 1
	}
	return 0
}

// operatorWord is the word behind a dash, "" where there is none.
func (p *parser) operatorWord() string {
	if !isDash(p.at(0)) {
		return ""
	}
	n := 1
	for isWord(p.at(n)) {
		n++
	}
	return strings.ToLower(string(p.src[p.pos+1 : p.pos+n]))
}

// binary is the length of the binary operator here, 0 for none.
func (p *parser) binary() int {
	r := p.at(0)
	if word := p.operatorWord(); word != "" && !strings.ContainsAny(word[:1], "0123456789") {
		for _, w := range []string{word, word[1:]} {
			if slices.Contains(operators, w) && (w == word || word[0] == 'c' || word[0] == 'i') {
				return 1 + len([]rune(word))
			}
		}
		return 0
	}
	switch {
	case p.is(".."):
		return 2
	case r != 0 && strings.ContainsRune("+*/%,", r), isDash(r):
		return 1
	}
	return 0
}

// expression goes past a value, and reports whether an assignment's operator
// ended it. commas says whether they make a list: in parameters they part them.
func (p *parser) expression(commas bool) (assignment bool) {
	p.enter()
	defer p.leave()
	for operator := ""; ; {
		for n := p.unary(); n > 0; n = p.unary() {
			p.pos += n
			p.lines()
		}
		if !p.value() {
			if operator == "" {
				p.unexpected()
			}
			p.failf("You must provide a value expression following the '%s' operator.", operator)
		}
		p.space()
		if p.assignment() {
			return true
		}
		n := p.binary()
		if n == 0 || p.is(",") && !commas {
			return false
		}
		operator = string(p.src[p.pos : p.pos+n])
		p.pos += n
		p.lines()
	}
}

// assignment goes past = and its kind.
func (p *parser) assignment() bool {
	n := 0
	if r := p.at(0); r != 0 && strings.ContainsRune("+*/%", r) || isDash(r) {
		n = 1
	}
	if p.at(n) != '=' {
		return false
	}
	p.pos += n + 1
	return true
}

// value is one operand with its members and indexes, and casts in front of it.
func (p *parser) value() bool {
	switch r := p.at(0); {
	case p.isHere():
		p.here()
	case isSingle(r):
		p.literal()
	case isDouble(r):
		p.expandable()
	case p.is("@{"):
		p.hash()
	case p.is("@("):
		p.group("@(")
	case p.is("$("):
		p.group("$(")
	case r == '(':
		p.parenthesised()
	case r == '{':
		p.group("{")
	case r == '$' || r == '@' && (isWord(p.at(1))):
		p.variable()
	case r == '[':
		return p.typed()
	default:
		n := p.number()
		p.pos += n
		if n == 0 {
			return false
		}
	}
	p.members()
	return true
}

// parenthesised is ( ) around one pipeline.
func (p *parser) parenthesised() {
	from := p.pos
	p.pos++
	if p.lines(); p.is(")") {
		p.failf("An expression was expected after '('.")
	}
	p.enter()
	p.statement()
	p.leave()
	p.lines()
	if !p.is(")") && !p.end() {
		p.failf("Missing closing ')' in expression.")
	}
	p.want(")", from, "expression")
}

// typed is a type, or an operand with types in front of it.
func (p *parser) typed() bool {
	p.brackets("[")
	if p.is("::") || p.is(".") && p.at(1) != '.' || p.is("[") {
		if p.is("[") {
			return p.typed()
		}
		p.members()
		return true
	}
	from := p.pos
	p.space()
	for n := p.unary(); n > 0 && !p.is(",") && p.operatorWord() == "" && !isSpace(p.at(1)); n = p.unary() {
		p.pos += n // [int] -1
		p.space()
	}
	if !p.value() {
		p.pos = from
	}
	return true
}

func (p *parser) variable() {
	if p.is("${") {
		p.braced()
		return
	}
	p.pos++
	if r := p.at(0); r == '$' || r == '?' || r == '^' {
		p.pos++
		return
	}
	for isWord(p.at(0)) || p.is("?") || p.is(":") && isWord(p.at(1)) {
		p.pos++
	}
}

// members is what follows a value without white space: .name, ::name, [index],
// the arguments of a method, ++ and --.
func (p *parser) members() {
	for {
		switch {
		case p.is("::"), p.is(".") && !p.is("..") && p.beginsMember(1):
			p.pos += len("::")
			if p.src[p.pos-2] == '.' {
				p.pos--
			}
			p.member()
		case p.is("["):
			p.index()
		case p.is("++"), isDash(p.at(0)) && isDash(p.at(1)):
			p.pos += 2
		default:
			return
		}
	}
}

func (p *parser) beginsMember(n int) bool {
	r := p.at(n)
	return isWord(r) || isSpace(r) || isBreak(r) || strings.ContainsRune("$({", r) || isSingle(r) || isDouble(r)
}

func (p *parser) member() {
	p.lines()
	switch r := p.at(0); {
	case isSingle(r):
		p.literal()
	case isDouble(r):
		p.expandable()
	case r == '(':
		p.parenthesised()
	case r == '{':
		p.group("{")
	case p.is("$("):
		p.group("$(")
	case r == '$':
		p.variable()
	case isWord(r):
		for isWord(p.at(0)) {
			p.pos++
		}
	default:
		p.failf("Missing property name after reference operator.")
	}
	if p.is("(") {
		p.call()
	} else if p.is("{") {
		p.group("{") // of ForEach and Where
	}
}

// call is a method's arguments.
func (p *parser) call() {
	from := p.pos
	p.pos++
	for p.lines(); !p.is(")"); p.lines() {
		if p.end() {
			p.want(")", from, "expression")
		}
		if p.expression(false) {
			p.assigned()
		}
		if p.lines(); !p.take(",") {
			if !p.is(")") && !p.end() {
				p.failf("Missing ')' in method call.")
			}
			continue
		}
		if p.lines(); p.is(")") {
			p.failf("Missing expression after ','.")
		}
	}
	p.pos++
}

func (p *parser) index() {
	from := p.pos
	p.pos++
	if p.lines(); p.is("]") {
		p.failf("Array index expression is missing or not valid.")
	}
	p.enter()
	p.statement()
	p.leave()
	p.lines()
	p.want("]", from, "array index expression")
}

// hash is @{ }.
func (p *parser) hash() {
	from := p.pos
	p.enter()
	defer p.leave()
	for p.pos += 2; ; {
		p.lines()
		for p.take(";") {
			p.lines()
		}
		if p.end() || p.is("}") {
			p.want("}", from, "hash literal")
			return
		}
		p.key()
		p.lines()
		if p.closesPipe() {
			p.failf("Missing statement after '=' in hash literal.")
		}
		p.statement()
		p.space()
		if !p.end() && !isBreak(p.at(0)) && !p.is(";") && !p.is("}") {
			p.unexpected()
		}
	}
}

// key is a hash literal's key and the = behind it.
func (p *parser) key() {
	from := p.pos
	for !p.take("=") {
		if p.end() || isBreak(p.at(0)) || strings.ContainsRune(";)}", p.at(0)) {
			p.failAt(from, "Missing '=' operator after key in hash literal.")
		}
		if !p.space() {
			p.skim()
		}
	}
}
