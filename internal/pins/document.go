package pins

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/winbake/winbake/internal/depth"
	"github.com/winbake/winbake/internal/fault"
)

// position is where something stands in versions.yaml, both from 1.
type position struct{ line, column int }

// places is where the keys of a mapping are; "" is the mapping.
type places struct{ at map[string]ast.Node }

func (p *places) begin(n ast.Node) map[string]ast.Node {
	p.at = map[string]ast.Node{"": n}
	return p.at
}

// place is a key's, or that of an item of its list; the mapping's where there is none.
func (p *places) place(key string, item int) ast.Node {
	n, ok := p.at[key]
	if !ok {
		return p.at[""]
	}
	if list, ok := n.(*ast.SequenceNode); ok && item >= 0 && item < len(list.Values) {
		return list.Values[item]
	}
	return n
}

// document reads a YAML tree strictly and collects every mistake with its
// position. It works on the syntax tree because a decoder has turned 1.30
// into 1.3 before anyone can say so.
type document struct {
	path  string
	lines []string
	errs  []error
}

// maxBytes bounds versions.yaml; the largest real one has 20 KB.
const maxBytes = 256 << 10

// byteOrderMark is what Windows' editors begin a file with.
const byteOrderMark = "\ufeff"

var (
	// scpForm is [user@]host:path. git gives host and path to ssh, which would
	// take a leading dash for an option of its own.
	scpForm = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.~+-]*@)?([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]):[^:-]`)

	// secretForm is a URL up to its host: with a password, or with a user that
	// may be a token. Behind a host, or its port, an @ is a path's or a query's.
	secretForm = regexp.MustCompile(`://[^/?#\s"'[]*:([^/\s"']*|[^/\s"']*[^0-9/\s"'][^/\s"']*/[^\s"']*)@|(https?|git|file)://[^/?#\s"']*@`)
	// baseSecretForm is a base with something before its registry.
	baseSecretForm = regexp.MustCompile(`\bbase:\s*["']?([^\s"']+)@[^\s"'@]+/`)
)

func newDocument(path string, src []byte) *document {
	return &document{path: path, lines: strings.Split(string(src), "\n")}
}

// root parses src into its one top mapping.
func (d *document) root(src []byte) (ast.Node, error) {
	if len(src) > maxBytes {
		return nil, &fault.Error{Where: d.path, What: fmt.Sprintf("the file has %d bytes; versions.yaml has at most %d", len(src), maxBytes), Fix: "check that -f names the right file"}
	}
	file, err := depth.ParseYAML(src)
	if err != nil {
		return nil, d.syntax(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); directive || doc.Body == nil {
			continue // such as %YAML 1.2, which the parser takes for a document
		}
		if body != nil {
			return nil, d.at(doc.Body, "a second document; versions.yaml has one", "leave it out, and the --- before it")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, &fault.Error{Where: d.path, What: "the file is empty", Fix: "see examples/README.md for a file to start from"}
	}
	return body, nil
}

// syntax turns the parser's own error into one of ours.
func (d *document) syntax(err error) error {
	if deep, ok := errors.AsType[*depth.Error](err); ok {
		return d.fault(position{deep.Line, deep.Column}, deep.Error(), "write it without what is nested: pins have at most four levels")
	}
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		p := syntax.GetToken().Position
		return d.fault(position{p.Line, p.Column}, "not YAML: "+syntax.GetMessage(), "fix the syntax at the caret")
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return &fault.Error{Where: d.path, What: "not YAML: " + line, Fix: "fix the syntax"}
}

func positionOf(n ast.Node) position {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return position{}
	}
	p := n.GetToken().Position
	return position{p.Line, p.Column}
}

func (d *document) at(n ast.Node, what, fix string) *fault.Error {
	return d.fault(start(n), what, fix)
}

// start is where a person looks for n: a block mapping's own token is its first
// colon.
func start(n ast.Node) position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 {
			return positionOf(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return positionOf(m.Key)
	}
	return positionOf(n)
}

// fault makes a fault that shows the line with a caret below the column.
func (d *document) fault(p position, what, fix string) *fault.Error {
	e := &fault.Error{Where: d.path, What: what, Fix: fix}
	if p.line < 1 {
		return e
	}
	e.Where = fmt.Sprintf("%s:%d:%d", d.path, p.line, max(p.column, 1))
	if p.line > len(d.lines) {
		return e
	}
	line := masked(strings.TrimRight(d.lines[p.line-1], "\r"))
	number := fmt.Sprintf("%5d | ", p.line)
	e.Excerpt = number + line + "\n" + strings.Repeat(" ", len(number)-2) + "| " + padding(line, p.column-1) + "^"
	return e
}

// padding is as wide as the first n characters of line: tabs stay tabs.
func padding(line string, n int) string {
	var b strings.Builder
	for _, r := range line {
		if n--; n < 0 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (d *document) report(n ast.Node, what, fix string) {
	d.errs = append(d.errs, d.at(n, what, fix))
}

// unwrap follows tags, anchors and aliases to what they stand for. Aliases
// are refused: a pin that is written elsewhere can't be edited here.
func (d *document) unwrap(n ast.Node) ast.Node {
	switch v := n.(type) {
	case *ast.AnchorNode:
		return d.unwrap(v.Value)
	case *ast.AliasNode:
		d.report(n, "aliases aren't supported", "write the value out")
		return nil
	}
	return n
}

// fields reads a mapping: each known key is handed to its reader.
func (d *document) fields(n ast.Node, what string, readers map[string]func(ast.Node)) {
	values, ok := d.pairs(n)
	if !ok {
		d.report(n, what+" must be a mapping (key: value)", "see docs/versions.md for the keys")
		return
	}
	seen := map[string]bool{}
	for _, v := range values {
		key := keyOf(v)
		switch read, known := readers[key]; {
		case seen[key]:
			d.report(v.Key, fmt.Sprintf("key %q stands here twice", key), "remove one of them")
		case !known:
			d.unknown(v.Key, what, key, readers)
		default:
			read(v.Value)
		}
		seen[key] = true
	}
}

func (d *document) pairs(n ast.Node) (values []*ast.MappingValueNode, ok bool) {
	switch m := d.unwrap(n).(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

func keyOf(v *ast.MappingValueNode) string {
	if s, ok := v.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return v.Key.String()
}

func (d *document) unknown(n ast.Node, what, key string, readers map[string]func(ast.Node)) {
	known := slices.Sorted(maps.Keys(readers))
	fix := "known keys: " + strings.Join(known, ", ")
	if near := fault.Nearest(key, known); near != "" {
		fix = "did you mean " + near + "?"
	}
	d.report(n, fmt.Sprintf("unknown key %q in %s", key, what), fix)
}

// text reads a string. Anything that YAML took for a number, a boolean or
// nothing is refused, since what was written is lost then: 1.30 is 1.3.
func (d *document) text(into *string) func(ast.Node) {
	return func(n ast.Node) {
		switch v := d.unwrap(n).(type) {
		case *ast.StringNode:
			*into = v.Value
		case *ast.LiteralNode:
			*into = v.Value.Value
		case nil:
		default:
			what, fix := noString(v)
			d.report(n, what, fix)
		}
	}
}

// noString says what a node is in place of a string, and what fixes it.
func noString(n ast.Node) (what, fix string) {
	raw := n.GetToken().Value
	switch v := n.(type) {
	case *ast.FloatNode:
		return fmt.Sprintf("YAML reads %s as the number %v, not as a string", raw, v.Value), fmt.Sprintf("quote it: %q", raw)
	case *ast.IntegerNode, *ast.BoolNode, *ast.NullNode:
		return fmt.Sprintf("YAML reads %s as %s, not as a string", raw, yamlType(v)), fmt.Sprintf("quote it: %q", raw)
	case *ast.TagNode:
		if _, scalar := v.Value.(ast.ScalarNode); scalar {
			return "tags such as " + raw + " aren't supported", fmt.Sprintf("quote it in place of the tag: %q", v.Value.GetToken().Value)
		}
	}
	return "must be a string", "write one value, in quotes"
}

func yamlType(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode:
		return "a whole number"
	case *ast.BoolNode:
		return "a truth value"
	default:
		return "nothing"
	}
}

func (d *document) boolean(into *bool, n ast.Node) {
	if b, ok := d.unwrap(n).(*ast.BoolNode); ok {
		*into = b.Value
		return
	}
	d.report(n, "must be true or false", "write true or false, unquoted")
}

func (d *document) whole(into *uint, n ast.Node) {
	if number, ok := d.unwrap(n).(*ast.IntegerNode); ok {
		if value, err := strconv.ParseUint(number.Token.Value, 10, 31); err == nil {
			*into = uint(value)
			return
		}
	}
	d.report(n, "must be a whole number", "write 0 or more, unquoted")
}

func (d *document) items(n ast.Node, what string, read func(ast.Node)) {
	inner := d.unwrap(n)
	if inner == nil {
		return // an alias, which is reported
	}
	list, ok := inner.(*ast.SequenceNode)
	if !ok {
		d.report(n, "must be "+what, "start each item with a dash")
		return
	}
	for _, item := range list.Values {
		read(item)
	}
}

func (d *document) table(into *map[string]string, n ast.Node) {
	values, ok := d.pairs(n)
	if !ok {
		d.report(n, "must be a mapping (name: value)", "write one name: value a line")
		return
	}
	*into = map[string]string{}
	for _, v := range values {
		key := keyOf(v)
		if _, twice := (*into)[key]; twice {
			d.report(v.Key, fmt.Sprintf("key %q stands here twice", key), "remove one of them")
		}
		var s string
		d.text(&s)(v.Value)
		(*into)[key] = s
	}
}

// joinFaults makes one error of many, the first one's exit code and all.
func joinFaults(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return fmt.Errorf("%d mistakes:\n%w", len(errs), errors.Join(errs...))
}

// masked puts stars over the credentials of URLs and of the base. The text keeps
// its length, so that a caret below it still points to its place.
func masked(text string) string {
	if at := baseSecretForm.FindStringSubmatchIndex(text); at != nil {
		text = text[:at[2]] + strings.Repeat("*", utf8.RuneCountInString(text[at[2]:at[3]])) + text[at[3]:]
	}
	return secretForm.ReplaceAllStringFunc(text, func(found string) string {
		scheme, secret, _ := strings.Cut(found, "://")
		return scheme + "://" + strings.Repeat("*", utf8.RuneCountInString(secret)-1) + "@"
	})
}
