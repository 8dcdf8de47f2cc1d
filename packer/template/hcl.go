package template

import (
	"fmt"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// body is a block's content being written. The first expression that isn't
// HCL ends up in err of the document.
type body struct {
	*hclwrite.Body
	doc *document
}

// document is one .pkr.hcl file being written.
type document struct {
	file *hclwrite.File
	err  error
}

func newDocument(comment string) (*document, *body) {
	d := &document{file: hclwrite.NewEmptyFile()}
	b := &body{d.file.Body(), d}
	b.comment(comment)
	return d, b
}

// bytes returns the document as `packer fmt` leaves it: hclwrite's format is
// what packer fmt runs.
func (d *document) bytes() ([]byte, error) {
	if d.err != nil {
		return nil, d.err
	}
	return hclwrite.Format(d.file.Bytes()), nil
}

// set writes name = expression, the latter as HCL has it. It is only taken
// apart into tokens: parsing it here and again to format it would be half of
// the time that a folder takes.
func (b *body) set(name, expression string) {
	lexed, diags := hclsyntax.LexExpression([]byte(expression), name, hcl.InitialPos)
	if diags.HasErrors() && b.doc.err == nil {
		b.doc.err = fmt.Errorf("%s = %s: %w", name, expression, diags)
	}
	tokens := make(hclwrite.Tokens, 0, len(lexed))
	end := 0
	for _, t := range lexed {
		if t.Type == hclsyntax.TokenEOF {
			break
		}
		tokens = append(tokens, &hclwrite.Token{Type: t.Type, Bytes: t.Bytes, SpacesBefore: t.Range.Start.Byte - end})
		end = t.Range.End.Byte
	}
	b.SetAttributeRaw(name, tokens)
}

// text writes name = "value", nothing of which is read as HCL.
func (b *body) text(name, value string) { b.set(name, quote(value)) }

// remarked writes name = "value" with a comment in the same line.
func (b *body) remarked(name, value, comment string) {
	b.SetAttributeRaw(name, append(hclwrite.TokensForValue(cty.StringVal(value)),
		&hclwrite.Token{Type: hclsyntax.TokenComment, Bytes: []byte("# " + comment), SpacesBefore: 1}))
}

// fromVars writes name = var.name for each name.
func (b *body) fromVars(names ...string) {
	for _, n := range names {
		b.set(n, "var."+n)
	}
}

func (b *body) block(kind string, labels ...string) *body {
	return &body{b.AppendNewBlock(kind, labels).Body(), b.doc}
}

func (b *body) gap() { b.AppendNewline() }

// comment writes whole lines; text may have several.
func (b *body) comment(text string) {
	for _, line := range lines(text) {
		b.AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte("# " + line + "\n")}})
	}
}

// quote is value as an HCL string.
func quote(value string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(value)).Bytes())
}

func number(n int) string { return strconv.Itoa(n) }
