package template

import (
	"strings"

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
	Default string `yaml:"-"`
	// Sensitive values are never shown, and never have a default but "".
	Sensitive bool
	// Rare marks what few builds change.
	Rare bool
	// Path marks a file or folder on the machine that runs Packer.
	Path  bool
	Rules []Rule
	// Fix is what fixes a value that breaks a rule, a command where there is
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

// Required reports whether the user has to give a value.
func (v Variable) Required() bool { return v.Default == "" }

// definition is a variable as the settings have it. A string that has to be there or
// has a default can't be empty, unless its rules say what it can be.
type definition struct {
	Variable `yaml:",inline"`
	// Value is the default, none for a variable that has to be given. Text isn't HCL.
	Value *string `yaml:"default"`
	// Pattern is what a value has to match, and Form says so in words, or Message where
	// "has to be" doesn't fit. An empty default passes too, with Optional any empty value.
	Pattern, Form, Message string
	Optional               bool
	Least                  int      // of a number
	Choices                []string // there are no others
	// Windows refuses the name of another Windows; names that say nothing of it pass.
	Windows bool
}

// demand is a condition on several variables. No rule can have it: Packer lets
// each see its own variable alone. In a template it is a local that nothing
// refers to and that can't be evaluated otherwise: packer validate ends there,
// and file() prints the path that isn't there.
type demand struct {
	Name      string
	Condition string // HCL over var and local
	// Message begins with the variables that have to fit together, and a colon.
	Message string
	Fix     string
}

// Names are the variables of a demand's message as Markdown has them.
func (d demand) Names() string {
	names, _, _ := strings.Cut(d.Message, ": ")
	return "`" + strings.NewReplacer(" or ", "` or `", " and ", "` and `").Replace(names) + "`"
}

// What is a demand's message without them.
func (d demand) What() string {
	_, what, _ := strings.Cut(d.Message, ": ")
	return what
}

// windowsPattern is in names of every Windows that a base image may be mistaken
// for.
const windowsPattern = `20(12|16|19|22|25)|Windows (7|8|10|11)\b`

// quote is value as an HCL string.
func quote(value string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(value)).Bytes())
}
