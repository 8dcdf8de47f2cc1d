package depth

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ParseHCL is hclparse's ParseHCL with a limit. The file is never nil.
func ParseHCL(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // the parser tells its mistakes again
	if deep := deepHCL(tokens); deep != nil {
		return &hcl.File{Body: &hclsyntax.Body{}, Bytes: src}, tooDeep(*deep)
	}
	return hclparse.NewParser().ParseHCL(src, name)
}

// ParseHCLJSON is hclparse's ParseJSON with a limit. The file may be nil.
func ParseHCLJSON(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if at := deepJSON(src); at != nil {
		return nil, tooDeep(hcl.Range{Filename: name, Start: *at, End: *at})
	}
	return hclparse.NewParser().ParseJSON(src, name)
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
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Nested too deep", Detail: (&Error{}).Error(), Subject: &at}}
}

// deepHCL finds the token that is nested too deep. Operators count too, up to
// the next comma, or line of a block: a+b+c is a sum of a sum, a?b:c?d:e a
// condition in a condition.
func deepHCL(tokens hclsyntax.Tokens) *hcl.Range {
	type level struct {
		open      hclsyntax.TokenType
		operators int
	}
	levels, depth := []level{{}}, 0
	for _, t := range tokens {
		last := &levels[len(levels)-1]
		switch t.Type {
		case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
			levels = append(levels, level{open: t.Type})
			depth++
		case hclsyntax.TokenTemplateControl:
			last.operators++ // it is open until its endif or endfor
			levels = append(levels, level{open: t.Type})
			depth += 2
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			if len(levels) > 1 {
				depth -= 1 + last.operators
				levels = levels[:len(levels)-1]
			}
			if t.Type == hclsyntax.TokenCBrack { // x[0][0][0] is nested to the left
				levels[len(levels)-1].operators++
				depth++
			}
		case hclsyntax.TokenComma, hclsyntax.TokenNewline:
			if t.Type == hclsyntax.TokenComma || last.open == hclsyntax.TokenOBrace || len(levels) == 1 {
				depth -= last.operators
				last.operators = 0
			}
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
			hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThan,
			hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion:
			last.operators++
			depth++
		}
		if depth > Max {
			return &t.Range
		}
	}
	return nil
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
