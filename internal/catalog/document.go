package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/printable"
)

// apiVersion is what every document of the catalog begins with, and kindName what
// it may call itself.
const (
	apiVersion = "winbake.dev/catalog/v1"
	kindName   = "Catalog"
)

// maxBytes bounds one file; the largest of our own has 64 KiB.
const maxBytes = 16 << 20

// document is a partial Catalog. Its mistakes are *fault.Error with their place.
type document struct {
	name  string
	lines [][]byte
	root  *yaml.Node
	// hasHead: it must begin with the apiVersion.
	hasHead bool
}

func parse(name string, src []byte) (*document, error) {
	d := &document{name: name, lines: bytes.Split(src, []byte("\n"))}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, d.syntax(err)
	}
	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		return nil, &fault.Error{Where: d.name, What: "the file is empty", Fix: "begin it with: apiVersion: " + apiVersion}
	}
	d.root = doc.Content[0]
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, d.at(&next, "a second document; catalog data has one", "put it into a file of its own")
	case !errors.Is(err, io.EOF):
		return nil, d.syntax(err)
	}
	return d, nil
}

// decode reads the Catalog, which is the caller's own.
func (d *document) decode() (*Catalog, error) {
	c := &Catalog{}
	if m := decodeInto(d.root, reflect.ValueOf(c).Elem()); m != nil {
		return nil, d.at(m.node, m.what, m.fix)
	}
	if !d.hasHead {
		return c, nil
	}
	if n, found := d.node("kind"); found && c.Kind != kindName {
		return nil, d.at(n, "kind "+printable.Quote(c.Kind)+" isn't known", "write: kind: "+kindName+", or nothing of it")
	}
	switch n, found := d.node("apiVersion"); {
	case !found:
		return nil, d.at(d.root, "apiVersion is missing", "begin the file with: apiVersion: "+apiVersion)
	case c.APIVersion != apiVersion:
		return nil, d.at(n, fmt.Sprintf("apiVersion %s isn't known", printable.Quote(c.APIVersion)), "write: apiVersion: "+apiVersion)
	}
	if n, found := d.node("asOf"); found && !day.MatchString(c.AsOf) {
		return nil, d.at(n, fmt.Sprintf("asOf %s is no day", printable.Quote(c.AsOf)), `write it as "2026-08-31"`)
	}
	return c, nil
}

// node follows path, of string keys and int indexes, and returns the deepest
// node on it that exists and whether that is the whole path.
func (d *document) node(path ...any) (*yaml.Node, bool) {
	n := d.root
	for _, step := range path {
		next := child(n, step)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

func child(n *yaml.Node, step any) *yaml.Node {
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

func (d *document) at(n *yaml.Node, what, fix string) *fault.Error {
	return &fault.Error{
		Where:   fmt.Sprintf("%s:%d:%d", d.name, n.Line, n.Column),
		What:    what,
		Excerpt: d.excerpt(n.Line, n.Column),
		Fix:     fix,
	}
}

// longestExcerpt is in bytes; more doesn't fit a terminal.
const longestExcerpt = 120

func (d *document) excerpt(line, column int) string {
	if line < 1 || line > len(d.lines) {
		return ""
	}
	text := strings.ToValidUTF8(string(bytes.TrimRight(d.lines[line-1], "\r")), "?")
	if len(text) > longestExcerpt {
		text = strings.ToValidUTF8(text[:longestExcerpt], "") + "..."
	}
	text = strings.Map(plainRune, text)
	head := fmt.Sprintf("%d | ", line)
	if column < 1 || column > len(text) {
		return head + text
	}
	return head + text + "\n" + strings.Repeat(" ", len(head)-2) + "| " + strings.Repeat(" ", column-1) + "^"
}

// plainRune keeps a file from writing to the terminal.
func plainRune(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

var yamlLine = regexp.MustCompile(`^yaml: line ([0-9]+): `)

// syntax words an error of the YAML parser, which knows the line alone.
func (d *document) syntax(err error) *fault.Error {
	what := "it isn't YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")
	e := &fault.Error{Where: d.name, What: what, Fix: "correct the file; it is a part of what `verify catalog -o yaml` prints", Err: err}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		e.Where = fmt.Sprintf("%s:%d:1", d.name, line)
		e.What = "it isn't YAML: " + err.Error()[len(m[0]):]
		e.Excerpt = d.excerpt(line, 0)
	}
	return e
}

type mistake struct {
	node      *yaml.Node
	what, fix string
}

// decodeInto fills v by the names of json tags. It is stricter than
// YAML libraries are: unknown and double fields, aliases and strings that YAML
// takes for numbers (4.10 would be 4.1) are mistakes, and each has its place.
func decodeInto(n *yaml.Node, v reflect.Value) *mistake {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return &mistake{n, "anchors and aliases aren't read here", "write the value out"}
	}
	if n.ShortTag() == "!!null" && slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, v.Kind()) {
		// `digests:` with nothing after it, and what `verify catalog` prints of
		// an empty list.
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		return decodeStruct(n, v)
	case reflect.Map:
		return decodeMap(n, v)
	case reflect.Slice:
		return decodeSlice(n, v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeInto(n, v.Elem())
	default:
		return decodeScalar(n, v)
	}
}

func decodeStruct(n *yaml.Node, v reflect.Value) *mistake {
	fields := fieldsOf(v.Type())
	return eachPair(n, func(key, value *yaml.Node) *mistake {
		i, ok := fields[key.Value]
		if !ok {
			names := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
			return &mistake{key, fmt.Sprintf("there is no field %s here", printable.Quote(key.Value)), "leave it out, or write one of: " + names}
		}
		return decodeInto(value, v.Field(i))
	})
}

func decodeMap(n *yaml.Node, v reflect.Value) *mistake {
	v.Set(reflect.MakeMap(v.Type()))
	return eachPair(n, func(key, value *yaml.Node) *mistake {
		item := reflect.New(v.Type().Elem()).Elem()
		if m := decodeInto(value, item); m != nil {
			return m
		}
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
		return nil
	})
}

func eachPair(n *yaml.Node, f func(key, value *yaml.Node) *mistake) *mistake {
	if n.Kind != yaml.MappingNode {
		return &mistake{n, "here are fields wanted, and it is " + kind(n), "write `name: value` pairs"}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return &mistake{key, "a name is wanted, and it is " + kind(key), "write the fields out"}
		}
		if seen[key.Value] {
			return &mistake{key, fmt.Sprintf("%s is there twice", printable.Quote(key.Value)), "remove one of them"}
		}
		seen[key.Value] = true
		if m := f(key, n.Content[i+1]); m != nil {
			return m
		}
	}
	return nil
}

func decodeSlice(n *yaml.Node, v reflect.Value) *mistake {
	if n.Kind != yaml.SequenceNode {
		return &mistake{n, "a list is wanted, and it is " + kind(n), "write each entry on a line that begins with `- `"}
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		if m := decodeInto(item, list.Index(i)); m != nil {
			return m
		}
	}
	v.Set(list)
	return nil
}

func decodeScalar(n *yaml.Node, v reflect.Value) *mistake {
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode {
		return &mistake{n, "one value is wanted, and it is " + kind(n), "write one value"}
	}
	switch {
	case v.Kind() == reflect.String && tag == "!!str":
		v.SetString(n.Value)
	case tag == "!!null":
		return &mistake{n, "the value is missing", "write it, or leave the field out"}
	case v.Kind() == reflect.String:
		return &mistake{n, fmt.Sprintf("YAML reads %s as %s and not as a string", printable.Clip(n.Value), kind(n)), fmt.Sprintf("put it in quotes: %s", printable.Quote(n.Value))}
	case v.Kind() == reflect.Bool && tag == "!!bool":
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case v.Kind() == reflect.Bool:
		return &mistake{n, "true or false is wanted, and it is " + kind(n), "write true or false"}
	default:
		i, err := strconv.ParseInt(n.Value, 10, 32)
		if tag != "!!int" || err != nil {
			return &mistake{n, fmt.Sprintf("a whole number is wanted, and it is %s", printable.Quote(n.Value)), "write digits alone"}
		}
		v.SetInt(i)
	}
	return nil
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of fields"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.DocumentNode, yaml.ScalarNode: // by its tag
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!timestamp":
		return "a date"
	case "!!str":
		return "a string"
	}
	return "of the type " + printable.Clip(n.ShortTag())
}

var fieldsByType sync.Map // the catalog has thousands of rows of a few types

func fieldsOf(t reflect.Type) map[string]int {
	if fields, ok := fieldsByType.Load(t); ok {
		return fields.(map[string]int)
	}
	fields := map[string]int{}
	for i := range t.NumField() {
		if name, _ := tagged(t.Field(i).Tag); name != "" {
			fields[name] = i
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}
