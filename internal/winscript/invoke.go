package winscript

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// command records a command and goes through what it has executed in turn.
func (r *runner) command(n *node, input Value) Value {
	names := r.eval(n.kids[0])
	args := r.arguments(n.kids[1:])
	for _, b := range names.blocks { // & { }
		return r.call(b, args, input)
	}
	var out Value
	for _, name := range names.Texts {
		out = out.and(r.named(n, name, args, input))
	}
	if len(names.Texts) == 0 {
		return open(r.source(n))
	}
	return out
}

func (r *runner) named(n *node, name string, args []Arg, input Value) Value {
	lower := strings.ToLower(name)
	if body := r.functions[lower]; body != nil {
		return r.call(body, args, input)
	}
	if target, ok := r.aliases[lower]; ok {
		lower = target
	} else if target, ok := aliases[lower]; ok && n.kids[0].kind == literal {
		lower = target
	}
	if len(r.commands) > maxCommands {
		return open()
	}
	return r.effect(n, r.record(Command{Name: programName(lower), Args: args, Input: input}, n))
}

// arguments are a command's, with hash tables splatted. What is behind a flag is
// its value.
func (r *runner) arguments(nodes []*node) []Arg {
	var out []Arg
	for i := 0; i < len(nodes); i++ {
		switch n := nodes[i]; n.kind {
		case splat:
			v, ok := r.get(n.text)
			if !ok {
				v = open("@" + n.text)
			}
			for _, t := range v.tables {
				for _, name := range sorted(t) {
					out = append(out, Arg{name, t[name]})
				}
			}
			for _, text := range v.Texts {
				out = append(out, Arg{Value: Value{Texts: []string{text}, Open: v.Open}})
			}
		case parameter:
			a := Arg{Flag: n.text}
			if len(n.kids) > 0 {
				a.Value = r.eval(n.kids[0])
			} else if i+1 < len(nodes) && nodes[i+1].kind != parameter && nodes[i+1].kind != splat {
				i++
				a.Value = r.eval(nodes[i])
			}
			out = append(out, a)
		default:
			out = append(out, Arg{Value: r.eval(n)})
		}
	}
	return out
}

// effect is what a command puts out, and what it has executed.
func (r *runner) effect(n *node, c Command) Value {
	switch c.Name {
	case "foreach-object", "where-object", "invoke-command", "start-job", "measure-command", "start-threadjob":
		return r.blocks(c)
	case "write-output", "out-string", "select-object", "sort-object", "get-unique":
		v := c.Input
		for _, a := range c.Args {
			if a.Flag == "" {
				v = v.and(a.Value)
			}
		}
		return v
	case "join-path":
		return c.Param("path", 0).joined(c.Param("childpath", 1).mapped(func(s string) string { return strings.TrimLeft(s, `\/`) }), `\`)
	case "set-variable", "new-variable":
		for _, name := range c.Param("name", 0).Texts {
			r.set(strings.ToLower(name), c.Param("value", 1))
		}
	case "set-alias", "new-alias":
		for _, name := range c.Param("name", 0).Texts {
			for _, value := range c.Param("value", 1).Texts {
				r.aliases[strings.ToLower(name)] = strings.ToLower(value)
			}
		}
	case "out-null":
		return Value{}
	case "get-service", "get-netfirewallrule": // what takes them is told their names
		return c.Param("name", 0).and(c.Param("displayname", -1)).and(open(r.source(n)))
	default:
		r.started(c)
	}
	for _, a := range c.Args { // whatever else takes a block has it run
		for _, b := range a.Value.blocks {
			r.perhaps++
			r.inline(b, c.Input)
			r.perhaps--
		}
	}
	return open(r.source(n))
}

// chooses are the comparisons that what is named comes through.
var chooses = map[string]bool{"eq": true, "in": true, "like": true, "match": true}

// choice is what a block of where-object compares with.
func (r *runner) choice(n *node) Value {
	if n.kind == operation && chooses[strings.TrimPrefix(n.text, "-")] && len(n.kids) == 2 {
		return r.eval(n.kids[1])
	}
	var out Value
	if n.kind == operation && len(n.kids) == 1 { // -not
		return out
	}
	for _, k := range n.kids {
		out = out.and(r.choice(k))
	}
	return out
}

func (r *runner) blocks(c Command) Value {
	var out Value
	given := c.Param("argumentlist", -1)
	for _, a := range c.Args {
		for _, b := range a.Value.blocks {
			r.perhaps++
			if len(b.params) > 0 {
				var args []Arg
				for _, t := range given.Texts {
					args = append(args, Arg{Value: known(t)})
				}
				out = out.and(r.call(b, args, c.Input))
			} else {
				out = out.and(r.inline(b, c.Input))
			}
			r.perhaps--
		}
	}
	if c.Name == "where-object" { // what is chosen by a name has it
		chosen := c.Input
		for _, a := range c.Args {
			if chooses[a.Flag] {
				chosen = chosen.and(a.Value)
			}
			for _, b := range a.Value.blocks {
				chosen = chosen.and(r.choice(b))
			}
		}
		return chosen
	}
	return out
}

// started goes through the command lines that a command has run by another program.
func (r *runner) started(c Command) {
	if r.calls >= maxCalls {
		return
	}
	r.calls++
	defer func() { r.calls-- }()
	switch c.Name {
	case "start-process":
		r.batch(commandLine(c.Param("filepath", 0), c.Param("argumentlist", 1)), c.Line)
	case "new-scheduledtaskaction":
		r.batch(commandLine(c.Param("execute", 0), c.Param("argument", 1)), c.Line)
	case "invoke-expression":
		r.powerShell(strings.Join(c.Param("command", 0).Texts, "\n"), c.Line)
	case "cmd", "start", "call":
		r.batch(behindSwitches(c.Words()), c.Line)
	case "powershell", "pwsh":
		file, text := Called(c.Words())
		if file != nil {
			text = "& " + quotedWord(file)
		}
		r.powerShell(text, c.Line)
	}
}

func commandLine(program, args Value) string {
	if len(program.Texts) == 0 {
		return ""
	}
	words := []string{word(program.Texts[0])}
	return strings.Join(append(words, args.Texts...), " ")
}

// word is a program's name for a command line.
func word(s string) string {
	if strings.ContainsAny(s, " \t") && !strings.HasPrefix(s, `"`) {
		return `"` + s + `"`
	}
	return s
}

func behindSwitches(words []string) string {
	for len(words) > 0 && (strings.HasPrefix(words[0], "/") && len(words[0]) <= 5 || words[0] == "") {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// Called is what a call of powershell.exe is to run: a file with its arguments, or
// a text of its command line. Options may be cut short
// (https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_powershell_exe).
func Called(args []string) (file []string, text string) {
	for i := 0; i < len(args); i++ {
		option, behind := strings.TrimLeft(strings.ToLower(args[i]), "-/"), args[i+1:]
		short := func(of string) bool { return option != "" && strings.HasPrefix(of, option) }
		switch {
		case !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "/"):
			return nil, strings.Join(args[i:], " ")
		case short("command"):
			return nil, strings.Join(behind, " ")
		case short("file"):
			return append([]string{}, behind...), ""
		case short("encodedcommand"), option == "ec":
			return nil, decoded(strings.Join(behind, " "))
		case option == "ep", slices.ContainsFunc(valued, short):
			i++
		}
	}
	return nil, ""
}

// valued are the options that have a value, besides those that say what to run.
var valued = []string{"executionpolicy", "version", "windowstyle", "inputformat", "outputformat", "configurationname", "psconsolefile"}

func quotedWord(words []string) string {
	if len(words) == 0 {
		return "''"
	}
	return strings.Join(append([]string{"'" + strings.ReplaceAll(unquoted(words[0]), "'", "''") + "'"}, words[1:]...), " ")
}

// decoded is -EncodedCommand's: base64 of UTF-16.
func decoded(text string) string {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return ""
	}
	return ofUTF16(string(data))
}

func ofUTF16(data string) string {
	out, _ := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().String(data)
	return out
}

// encoded is what a call of PowerShell has behind -EncodedCommand.
var encoded = regexp.MustCompile(`(?i)\b(?:powershell|pwsh)(?:\.exe)?\b[^\n|;]*?\s[-/]e(?:c|n[a-z]*)?\s+['"]?([A-Za-z0-9+/]{8,}={0,2})`)

// Encoded are the scripts that a text gives PowerShell encoded, by where they begin
// in it.
func Encoded(text string) map[int]string {
	out := map[int]string{}
	for _, m := range encoded.FindAllStringSubmatchIndex(text, -1) {
		if inner := decoded(text[m[2]:m[3]]); inner != "" {
			out[m[2]] = inner
		}
	}
	return out
}
