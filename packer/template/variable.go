package template

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Variable is one input variable of a template.
type Variable struct {
	Name string
	// Type is HCL's: string, number, bool or list(string).
	Type        string
	Description string
	// Default is an HCL expression; "" makes the variable mandatory.
	Default string
	// Sensitive values are never shown, and never have a default but "".
	Sensitive bool
	// Path marks a file or folder on the machine that runs Packer.
	Path  bool
	Rules []Rule
	// Fix is what mends a value that breaks a rule, a command where there is
	// one; "" where the rule says all.
	Fix string
}

// Rule is one validation of a variable.
type Rule struct {
	// Condition is HCL over var.NAME alone.
	Condition string
	// Message is what Packer says: a sentence, as Packer demands.
	Message string
}

// Required reports whether whoever builds has to give a value.
func (v Variable) Required() bool { return v.Default == "" }

// write appends the variable's block.
func (v Variable) write(b *body) {
	block := b.block("variable", v.Name)
	block.set("type", v.Type)
	block.text("description", v.Description)
	if v.Sensitive {
		block.set("sensitive", "true")
	}
	if v.Default != "" {
		block.set("default", v.Default)
	}
	for _, r := range v.Rules {
		block.gap()
		rule := block.block("validation")
		rule.set("condition", r.Condition)
		rule.text("error_message", r.Message)
	}
}

// text is a string variable. def is its default, not HCL.
func text(name, def, description string, rules ...Rule) Variable {
	return Variable{Name: name, Type: "string", Default: quote(def), Description: description, Rules: rules}
}

// needed is a string that whoever builds has to give.
func needed(name, description string, rules ...Rule) Variable {
	if len(rules) == 0 {
		rules = []Rule{notEmpty(name)}
	}
	return Variable{Name: name, Type: "string", Description: description, Rules: rules}
}

// secret is a string that nobody may see.
func secret(name, description string, rules ...Rule) Variable {
	v := needed(name, description, rules...)
	v.Sensitive = true
	return v
}

func amount(name string, def, least int, description string) Variable {
	return Variable{Name: name, Type: "number", Default: number(def), Description: description,
		Rules: []Rule{{"var." + name + " >= " + number(least), sentence("variable " + name + " has to be " + number(least) + " at least")}}}
}

func yesNo(name string, def bool, description string) Variable {
	v := Variable{Name: name, Type: "bool", Default: "false", Description: description}
	if def {
		v.Default = "true"
	}
	return v
}

func list(name, def, description string, rules ...Rule) Variable {
	return Variable{Name: name, Type: "list(string)", Default: def, Description: description, Rules: rules}
}

func notEmpty(name string) Rule {
	return Rule{"length(var." + name + ") > 0", sentence("variable " + name + " can't be empty")}
}

// matches holds a variable to a regular expression. empty lets "" pass too.
func matches(name, pattern, message string, empty bool) Rule {
	condition := "can(regex(" + quote(pattern) + ", var." + name + "))"
	if empty {
		condition = "var." + name + ` == "" || ` + condition
	}
	return Rule{condition, sentence("variable " + message)}
}

// plain is text that can stand in an answer file as it is.
func plain(name string) Rule {
	return matches(name, `^[^<>&]+$`, name+" can't be empty nor have <, > or &", false)
}

func oneOf(name string, values ...string) Rule {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, quote(v))
	}
	return Rule{"contains([" + strings.Join(quoted, ", ") + "], var." + name + ")", sentence("variable " + name + " has to be one of " + strings.Join(values, ", "))}
}

// sentence makes s what Packer takes for a message: it must begin with a
// capital and end with a full stop.
func sentence(s string) string {
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

func lines(text string) []string { return strings.Split(strings.Trim(text, "\n"), "\n") }

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
