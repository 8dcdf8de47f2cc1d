package template

import "strings"

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
