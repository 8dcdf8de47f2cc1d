package notation

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/depth"
)

// notations are the ends of the names of files that Packer reads as HCL.
var notations = []string{".pkr.hcl", ".pkr.json"}

// IsTemplate reports whether Packer reads a file of this name as HCL.
func IsTemplate(name string) bool {
	return slices.ContainsFunc(notations, func(end string) bool { return strings.HasSuffix(name, end) })
}

// legacyKeys are all that a template in the JSON from before HCL may have.
// https://developer.hashicorp.com/packer/docs/templates/legacy_json_templates
var legacyKeys = []string{"builders", "description", "min_packer_version", "post-processors", "provisioners", "sensitive-variables", "variables"}

// IsLegacy reports whether a file is a template in the JSON from before HCL.
func IsLegacy(data []byte) bool {
	var template map[string]json.RawMessage
	return json.Unmarshal(data, &template) == nil && template != nil &&
		!slices.ContainsFunc(slices.Collect(maps.Keys(template)), func(key string) bool { return !slices.Contains(legacyKeys, key) && !strings.HasPrefix(key, "_") })
}

// Parse is what could be read of a file, in HCL's own notation.
func Parse(name string, data []byte) (*hclsyntax.Body, hcl.Diagnostics) {
	file, diags := depth.ParseHCL(data, name)
	if body, ok := file.Body.(*hclsyntax.Body); ok {
		return body, diags
	}
	body, more := fromJSON(file.Body, "")
	return body, append(diags, more...)
}

// escaped is a path whose backslash makes another character, such as a tab. A line may end
// with a drive: \n is of a path where a folder follows, or where the path is the whole text.
var escaped = regexp.MustCompile(`(?:^|[^\w\\])([C-Zc-z]:\\(?:[bfrt]\w+|n\w+(?:\\\\|/)[\w.]*))|(?:^|")([Cc]:\\n[\w.-]+)(?:$|")`)

// Escaped is a path in quotes, and its line, whose backslash HCL takes for another
// character, "" for none. In a heredoc it stays one.
func Escaped(name string, data []byte) (line int, path string) {
	tokens := hclsyntax.Tokens{{Type: hclsyntax.TokenQuotedLit, Bytes: data, Range: hcl.Range{Start: hcl.InitialPos}}} // of JSON
	if !strings.HasSuffix(name, ".json") {
		tokens, _ = hclsyntax.LexConfig(data, name, hcl.InitialPos)
	}
	for _, t := range tokens {
		if m := escaped.FindSubmatchIndex(t.Bytes); m != nil && t.Type == hclsyntax.TokenQuotedLit {
			if m[2] < 0 {
				m = m[2:]
			}
			return t.Range.Start.Line + bytes.Count(t.Bytes[:m[2]], []byte("\n")), string(t.Bytes[m[2]:m[3]])
		}
	}
	return 0, ""
}

// headers are the blocks that each kind of block may have, "" being the file's
// own. JSON doesn't tell a block from an attribute: only those are listed in
// which something is looked for. https://developer.hashicorp.com/packer/docs/templates/hcl_templates/syntax-json
var headers = map[string][]hcl.BlockHeaderSchema{
	"": {
		{Type: "packer"}, {Type: "variables"}, {Type: "variable", LabelNames: []string{"name"}},
		{Type: "locals"}, {Type: "local", LabelNames: []string{"name"}},
		{Type: "source", LabelNames: []string{"type", "name"}}, {Type: "data", LabelNames: []string{"type", "name"}}, {Type: "build"},
	},
	"packer":   {{Type: "required_plugins"}},
	"variable": {{Type: "validation"}},
	"source":   {{Type: "boot_iso"}, {Type: "additional_iso_files"}},
	"build": {
		{Type: "source", LabelNames: []string{"reference"}}, {Type: "provisioner", LabelNames: []string{"type"}},
		{Type: "post-processor", LabelNames: []string{"type"}}, {Type: "post-processors"},
	},
	"post-processors": {{Type: "post-processor", LabelNames: []string{"type"}}},
}

// fromJSON is the body of a block of this kind as HCL's own notation has it.
func fromJSON(b hcl.Body, kind string) (*hclsyntax.Body, hcl.Diagnostics) {
	out := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	content, rest, diags := b.PartialContent(&hcl.BodySchema{Blocks: headers[kind]})
	for _, inner := range content.Blocks {
		body, more := fromJSON(inner.Body, inner.Type)
		diags = append(diags, more...)
		out.Blocks = append(out.Blocks, &hclsyntax.Block{Type: inner.Type, Labels: inner.Labels, Body: body,
			TypeRange: inner.DefRange, LabelRanges: inner.LabelRanges, OpenBraceRange: inner.DefRange, CloseBraceRange: inner.DefRange})
	}
	attributes, more := rest.JustAttributes()
	diags = append(diags, more...)
	for name, a := range attributes {
		e, more := expressionOf(a.Expr)
		diags = append(diags, more...)
		out.Attributes[name] = &hclsyntax.Attribute{Name: name, Expr: e, SrcRange: a.Range, NameRange: a.NameRange}
	}
	return out, diags
}

// expressionOf is an expression of either notation in HCL's own: strings of
// JSON are templates.
func expressionOf(e hcl.Expression) (hclsyntax.Expression, hcl.Diagnostics) {
	if own, ok := e.(hclsyntax.Expression); ok {
		return own, nil
	}
	var diags hcl.Diagnostics
	if items, more := hcl.ExprMap(e); !more.HasErrors() {
		out := &hclsyntax.ObjectConsExpr{SrcRange: e.Range(), OpenRange: e.Range()}
		for _, item := range items {
			key, keyDiags := expressionOf(item.Key)
			value, valueDiags := expressionOf(item.Value)
			diags = append(append(diags, keyDiags...), valueDiags...)
			out.Items = append(out.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
		}
		return out, diags
	}
	if items, more := hcl.ExprList(e); !more.HasErrors() {
		out := &hclsyntax.TupleConsExpr{SrcRange: e.Range(), OpenRange: e.Range()}
		for _, item := range items {
			value, more := expressionOf(item)
			diags = append(diags, more...)
			out.Exprs = append(out.Exprs, value)
		}
		return out, diags
	}
	v, more := e.Value(nil) // without a context, JSON's strings stay as they are
	diags = append(diags, more...)
	if !v.IsNull() && v.Type() == cty.String {
		start := e.Range().Start
		start.Column++ // the quote
		start.Byte++
		text, more := depth.ParseTemplate([]byte(v.AsString()), e.Range().Filename, start)
		return text, append(diags, more...)
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}, diags
}
