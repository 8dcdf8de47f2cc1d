package winscript

import "strings"

// kind tells nodes apart.
type kind int

const (
	literal    kind = iota // text
	expanded               // kids joined: a string in double quotes, a word with variables in it
	variable               // text is its name, in lower case
	member                 // kids[0]'s member text
	element                // kids[0] at kids[1]
	method                 // kids[0]'s method text, called with the other kids
	list                   // kids
	table                  // kids are names and values in turn
	block                  // { }: kids are statements; params
	group                  // ( ), $( ) and @( ): kids are statements
	typed                  // [text], or a cast of kids[0] to it
	operation              // text is the operator
	command                // kids[0] is the name, the others are arguments
	parameter              // -text
	splat                  // @text
	pipeline               // kids are stages
	assignment             // kids[0] becomes kids[1]; text is the operator
	function               // text is its name, kids[0] its block
	control                // text is the keyword, kids are conditions and blocks
	loop                   // foreach: kids are variable, values, block
	jump                   // return, throw, exit, break, continue
)

// node is a part of a script.
type node struct {
	kind   kind
	text   string
	kids   []*node
	params []*node // of a block: assignments of defaults to variables
	pos    int     // where it begins
	end    int
}

func (n *node) isAttribute() bool {
	return n.kind == typed && len(n.kids) == 0 && strings.HasSuffix(n.text, ")")
}
