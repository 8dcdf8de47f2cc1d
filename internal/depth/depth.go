// Package depth parses YAML and HCL that come from outside, and refuses what is
// nested deeper than Max before a parser sees it: goccy's memory grows with the
// square of the depth (3.8 GB for 63 kB), HCL's stack overflows, which ends the
// program.
//
// It isn't for other parsers: encoding/json, yaml.v3 and sigs.k8s.io/yaml stop
// at 10,000 levels, which cost them a few megabytes.
package depth

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Max is how many levels are read. Templates and pins have under 20.
const Max = 300

// Error is what is nested too deep, both numbers from 1.
type Error struct{ Line, Column int }

func (e *Error) Error() string { return fmt.Sprintf("it is nested more than %d levels deep", Max) }

// ParseYAML is goccy's parser.ParseBytes with a limit. The error is *Error for
// what is nested too deep.
func ParseYAML(src []byte) (*ast.File, error) {
	tokens := lexer.Tokenize(string(src))
	if deep := deepYAML(tokens); deep != nil {
		return nil, &Error{deep.Position.Line, deep.Position.Column}
	}
	return parser.Parse(tokens, 0)
}

// deepYAML finds the token that is nested too deep. A block collection is as
// deep as there are columns to its left where another one began; brackets and
// braces count for themselves, and so do the anchors and tags of one line.
func deepYAML(tokens token.Tokens) *token.Token {
	flow, properties, line := 0, 0, 0
	var columns []int
	for _, t := range tokens {
		if t.Position.Line != line {
			properties, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.AnchorType, token.TagType:
			properties++
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(flow-1, 0)
		case token.SequenceEntryType, token.MappingKeyType:
			columns = at(columns, t.Position.Column)
		case token.MappingValueType:
			if t.Prev != nil && flow == 0 {
				columns = at(columns, t.Prev.Position.Column)
			}
		}
		if flow+len(columns)+properties > Max {
			return t
		}
	}
	return nil
}

// at is the columns of the block collections that are open at column.
func at(columns []int, column int) []int {
	for len(columns) > 0 && columns[len(columns)-1] >= column {
		columns = columns[:len(columns)-1]
	}
	return append(columns, column)
}
