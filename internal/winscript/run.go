package winscript

import (
	"slices"
	"strings"
)

// Script is what a script does.
type Script struct {
	Commands []Command
	// Assigned are the variables of the script itself, by name in lower case.
	Assigned map[string]Value
}

// limits: what a script of an image build needs is far below them.
const (
	maxCommands = 20000
	maxCalls    = 8
	maxSteps    = 200000
)

// runner goes through a script without running it.
type runner struct {
	src       []rune
	env       map[string]string
	functions map[string]*node
	aliases   map[string]string
	vars      []map[string]Value // scopes, the innermost last
	compared  map[string]bool
	inCompare int
	perhaps   int // depth of conditions
	calls     int
	steps     int
	base      int // the line that a program inside another one is in
	commands  []Command
}

func newRunner(env map[string]string) *runner {
	return &runner{env: env, functions: map[string]*node{}, aliases: map[string]string{}, compared: map[string]bool{}, vars: []map[string]Value{{}}}
}

// Run tells what a PowerShell script does in this environment.
func Run(text string, env map[string]string) Script {
	r := newRunner(env)
	r.powerShell(text, 0)
	for _, name := range sorted(r.vars[0]) { // a block may be run as text
		for _, b := range r.vars[0][name].blocks {
			r.src = []rune(plain.Replace(text))
			r.inline(b, Value{})
		}
	}
	for i, c := range r.commands {
		r.commands[i].Compared = c.Compared || c.Into != "" && r.compared[c.Into]
	}
	return Script{Commands: r.commands, Assigned: r.vars[0]}
}

// record notes that a command is executed at a place in the script.
func (r *runner) record(c Command, at *node) Command {
	c.Line, c.Compared, c.Order = r.line(at), r.inCompare > 0, len(r.commands)
	r.commands = append(r.commands, c)
	return c
}

func (r *runner) powerShell(text string, line int) {
	if text == "" {
		return
	}
	p := newParser(text)
	tree := p.statements(0, 0, "")
	src, base := r.src, r.base
	r.src, r.base = p.src, line
	r.define(tree)
	r.bind(tree, nil)
	r.block(tree)
	r.src, r.base = src, base
}

// define finds functions first: one may be called before it is reached, from
// another one.
func (r *runner) define(n *node) {
	if n == nil {
		return
	}
	if n.kind == function {
		r.functions[strings.TrimPrefix(n.text, "global:")] = n.kids[0]
	}
	for _, k := range n.kids {
		r.define(k)
	}
}

func (r *runner) line(n *node) int {
	if r.base > 0 {
		return r.base
	}
	at, _ := place(r.src, n.pos)
	return at
}

func (r *runner) source(n *node) string {
	if n.end > n.pos && n.end <= len(r.src) {
		return strings.ToLower(strings.TrimSpace(string(r.src[n.pos:n.end])))
	}
	return ""
}

// block goes through statements up to one that surely ends them, and returns
// what they put out.
func (r *runner) block(b *node) Value {
	var out Value
	for _, s := range b.kids {
		out = out.and(r.eval(s))
		if s.kind == jump && s.text != "break" && s.text != "continue" {
			break
		}
	}
	return out
}

func (r *runner) set(name string, v Value) {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		if r.env != nil && len(v.Texts) == 1 && !v.Open {
			r.env[strings.ToLower(env)] = v.Texts[0]
		}
		return
	}
	scope := r.vars[len(r.vars)-1]
	if old, ok := scope[name]; ok && r.perhaps > 0 {
		v = old.and(v)
	}
	scope[name] = v
}

func (r *runner) get(name string) (Value, bool) {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		value, set := r.environment(env)
		return known(value), set
	}
	for i := len(r.vars) - 1; i >= 0; i-- {
		if v, ok := r.vars[i][name]; ok {
			return v, true
		}
	}
	return Value{}, false
}

func (r *runner) environment(name string) (string, bool) {
	for key, value := range r.env {
		if strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}

// bind gives parameters what a call gives them, else their defaults.
func (r *runner) bind(b *node, args []Arg) {
	taken := make([]bool, len(args))
	for _, p := range b.params {
		name := p.kids[0].text
		v, given := Value{}, false
		for i, a := range args {
			if !taken[i] && a.Flag != "" && strings.HasPrefix(name, a.Flag) {
				v, given, taken[i] = a.Value, true, true
			}
		}
		for i, a := range args {
			if !given && !taken[i] && a.Flag == "" {
				v, given, taken[i] = a.Value, true, true
			}
		}
		if !given && p.kids[1] != nil {
			v, given = r.eval(p.kids[1]), true
		}
		if !given {
			v = open("$" + name)
		}
		r.vars[len(r.vars)-1][name] = v
	}
	var rest Value
	for i, a := range args {
		if !taken[i] {
			rest = rest.and(a.Value)
		}
	}
	r.vars[len(r.vars)-1]["args"] = rest
}

// call goes through a function or a block with arguments.
func (r *runner) call(b *node, args []Arg, input Value) Value {
	if r.calls >= maxCalls || len(r.commands) > maxCommands {
		return open()
	}
	r.calls++
	r.vars = append(r.vars, map[string]Value{"_": input, "psitem": input, "input": input})
	perhaps := r.perhaps
	r.perhaps = 0
	r.bind(b, args)
	r.perhaps = perhaps
	out := r.block(b)
	r.vars = r.vars[:len(r.vars)-1]
	r.calls--
	return out
}

// inline goes through a block in the scope that it is in.
func (r *runner) inline(b *node, input Value) Value {
	if r.calls >= maxCalls*4 || len(r.commands) > maxCommands {
		return open()
	}
	r.calls++
	scope := r.vars[len(r.vars)-1]
	before, had := scope["_"]
	scope["_"], scope["psitem"] = input, input
	out := r.block(b)
	if scope["_"] = before; !had {
		delete(scope, "_")
	}
	r.calls--
	return out
}

// comparing are operators that hold one value against another.
func comparing(operator string) bool {
	operator = strings.TrimPrefix(operator, "-")
	return slices.Contains(comparisons, operator) || len(operator) > 2 && strings.ContainsAny(operator[:1], "ci") && slices.Contains(comparisons, operator[1:])
}

var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "like", "notlike", "match", "notmatch", "contains", "notcontains", "in", "notin"}

func (r *runner) eval(n *node) Value {
	if r.steps++; n == nil || r.calls > maxCalls*4 || r.steps > maxSteps {
		return Value{}
	}
	switch n.kind {
	case literal:
		return known(n.text)
	case expanded:
		out := known("")
		for _, k := range n.kids {
			v := r.eval(k)
			if v.empty() {
				v = known("")
			}
			out = out.joined(v, "")
		}
		return out
	case variable:
		return r.variable(n)
	case list, group:
		var out Value
		for _, k := range n.kids {
			out = out.and(r.eval(k))
		}
		return out
	case block:
		return Value{blocks: []*node{n}}
	case table:
		t := map[string]Value{}
		for i := 0; i+1 < len(n.kids); i += 2 {
			if key := r.eval(n.kids[i]); len(key.Texts) == 1 {
				t[strings.ToLower(key.Texts[0])] = r.eval(n.kids[i+1])
			}
		}
		return Value{tables: []map[string]Value{t}}
	case typed:
		if len(n.kids) > 0 {
			return r.eval(n.kids[0])
		}
		return open("[" + n.text + "]")
	case member, element, method:
		return r.member(n)
	case operation:
		return r.operation(n)
	case command:
		return r.command(n, Value{})
	case pipeline:
		return r.pipeline(n)
	case assignment:
		r.assign(n)
	case control:
		return r.control(n)
	case loop:
		return r.foreach(n)
	case jump:
		if len(n.kids) > 0 {
			return r.eval(n.kids[0])
		}
	}
	return Value{}
}

func (r *runner) variable(n *node) Value {
	if r.inCompare > 0 {
		r.compared[n.text] = true
	}
	if v, ok := r.get(n.text); ok {
		return v
	}
	switch n.text {
	case "null":
		return Value{}
	case "true", "false":
		return known("$" + n.text)
	}
	return open("$" + n.text)
}

func (r *runner) pipeline(n *node) Value {
	var v Value
	for i, stage := range n.kids {
		if stage.kind == command {
			v = r.command(stage, v)
		} else if w := r.eval(stage); i == 0 || !w.empty() {
			v = w
		}
	}
	return v
}

func (r *runner) assign(n *node) {
	before := len(r.commands)
	v := r.eval(n.kids[1])
	target := n.kids[0]
	for target.kind == typed && len(target.kids) > 0 {
		target = target.kids[0]
	}
	switch target.kind {
	case variable:
		for i := before; i < len(r.commands); i++ {
			if r.commands[i].Into == "" {
				r.commands[i].Into = target.text
			}
		}
		if old, ok := r.get(target.text); ok && n.text != "=" {
			if n.text == "+=" && len(old.Texts) == 1 && len(v.Texts) == 1 && len(old.tables) == 0 { // a text, or a list
				v = old.joined(v, "").and(old).and(v)
			} else {
				v = old.and(v)
			}
		}
		r.set(target.text, v)
	case element, member: // of a hash table
		if t, ok := r.get(target.kids[0].text); ok && target.kids[0].kind == variable && len(t.tables) > 0 {
			key := known(target.text)
			if target.kind == element {
				key = r.eval(target.kids[1])
			}
			for _, k := range key.Texts {
				t.tables[len(t.tables)-1][strings.ToLower(k)] = v
			}
			return
		}
		r.record(Command{Name: "." + target.text, Object: r.source(target), Args: []Arg{{Value: v}}}, n)
	case list:
		for _, k := range target.kids {
			if k.kind == variable {
				r.set(k.text, v)
			}
		}
	}
}

func (r *runner) control(n *node) Value {
	var out Value
	always := n.text != "if" && n.text != "while" && n.text != "switch" && n.text != "for"
	before := len(r.commands)
	for i, k := range n.kids {
		if n.text == "try" && i == 1 && len(n.kids) > 1 && !ends(n.kids[1]) {
			for j := before; j < len(r.commands); j++ {
				r.commands[j].Excused = true
			}
		}
		if k.kind != block {
			r.inCompare++
			v := r.eval(k)
			r.inCompare--
			if n.text != "for" && v.Has("$false") && len(v.Texts) == 1 && !v.Open && len(k.kids) == 1 && k.kids[0].kind == variable && i+1 < len(n.kids) {
				n.kids[i+1].kids = nil // if ($false)
			}
			continue
		}
		perhaps := r.perhaps
		if !always || i > 0 {
			r.perhaps++
		}
		out = out.and(r.block(k))
		r.perhaps = perhaps
	}
	return out
}

// ends reports whether a catch ends the script, or says that it failed.
func ends(n *node) bool {
	if n == nil {
		return false
	}
	if n.kind == jump && (n.text == "throw" || n.text == "exit" && len(n.kids) > 0 && n.kids[0].text != "0" || n.text == "return") {
		return true
	}
	if n.kind == command && len(n.kids) > 0 && strings.EqualFold(n.kids[0].text, "write-error") {
		return true
	}
	return slices.ContainsFunc(n.kids, ends)
}

func (r *runner) foreach(n *node) Value {
	values := r.eval(n.kids[1])
	if values.empty() && !values.Open {
		values = open("$" + n.kids[0].text)
	}
	r.vars[len(r.vars)-1][n.kids[0].text] = values
	r.perhaps++
	out := r.block(n.kids[2])
	r.perhaps--
	return out
}
