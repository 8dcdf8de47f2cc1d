// Package depth parses HCL that comes from outside, and refuses what is nested
// deeper than Max before the parser sees it: its stack overflows, which ends the
// program.
//
// It isn't for other parsers: encoding/json, yaml.v3 and sigs.k8s.io/yaml stop
// at 10,000 levels, which cost them a few megabytes.
package depth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Max is how many levels are read. Templates have under 20.
const Max = 300

// ParseHCL is hclparse's parser with a limit, of JSON where the name ends so. The file
// is never nil.
func ParseHCL(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	empty := &hcl.File{Body: &hclsyntax.Body{}, Bytes: src}
	if strings.HasSuffix(name, ".json") {
		if at := deepJSON(src); at != nil {
			return empty, tooDeep(hcl.Range{Filename: name, Start: *at, End: *at})
		}
		file, diags := hclparse.NewParser().ParseJSON(src, name)
		return cmp.Or(file, empty), diags
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // the parser tells its mistakes again
	if deep := deepHCL(tokens); deep != nil {
		return empty, tooDeep(*deep)
	}
	return hclparse.NewParser().ParseHCL(src, name)
}

// ParseTemplate is hclsyntax.ParseTemplate with a limit, for the strings of
// HCL's JSON.
func ParseTemplate(src []byte, name string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	tokens, _ := hclsyntax.LexTemplate(src, name, start)
	if deep := deepHCL(tokens); deep != nil {
		return &hclsyntax.TemplateExpr{SrcRange: *deep}, tooDeep(*deep)
	}
	return hclsyntax.ParseTemplate(src, name, start)
}

func tooDeep(at hcl.Range) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Nested too deep", Detail: fmt.Sprintf("it is nested more than %d levels deep", Max), Subject: &at}}
}

// What a token does to the depth.
var (
	opening = []hclsyntax.TokenType{hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenOQuote,
		hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl}
	closing = []hclsyntax.TokenType{hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd}
	operators = []hclsyntax.TokenType{hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
		hclsyntax.TokenPercent, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion,
		hclsyntax.TokenCBrack,          // x[0][0][0] is an index of an index of an index
		hclsyntax.TokenTemplateControl, // open until its endif or endfor
	}
)

// nesting is what is open at a token: for each bracket, and for the file
// itself, how many operators were read since its last comma.
type nesting struct {
	brackets  []hclsyntax.TokenType
	operators []int
	depth     int
}

// deepHCL finds the token that is nested too deep. Operators count too, up to
// the next comma, or line of a block: a+b+c is a sum of a sum, a?b:c?d:e a
// condition in a condition.
func deepHCL(tokens hclsyntax.Tokens) *hcl.Range {
	n := nesting{brackets: []hclsyntax.TokenType{hclsyntax.TokenOBrace}, operators: []int{0}}
	for _, t := range tokens {
		if n.read(t.Type); n.depth > Max {
			return &t.Range
		}
	}
	return nil
}

func (n *nesting) read(t hclsyntax.TokenType) {
	if slices.Contains(closing, t) && len(n.brackets) > 1 {
		n.end()
		n.brackets, n.operators = n.brackets[:len(n.brackets)-1], n.operators[:len(n.operators)-1]
		n.depth--
	}
	if slices.Contains(operators, t) {
		n.operators[len(n.operators)-1]++
		n.depth++
	}
	if slices.Contains(opening, t) {
		n.brackets, n.operators = append(n.brackets, t), append(n.operators, 0)
		n.depth++
	}
	if t == hclsyntax.TokenComma || t == hclsyntax.TokenNewline && n.brackets[len(n.brackets)-1] == hclsyntax.TokenOBrace {
		n.end()
	}
}

func (n *nesting) end() {
	last := &n.operators[len(n.operators)-1]
	n.depth -= *last
	*last = 0
}

// deepJSON finds the bracket or brace that is nested too deep.
func deepJSON(src []byte) *hcl.Pos {
	depth, quoted, line, start := 0, false, 1, 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\n':
			line, start = line+1, i+1
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > Max {
				return &hcl.Pos{Line: line, Column: i - start + 1, Byte: i}
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return nil
}
