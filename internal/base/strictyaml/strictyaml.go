// Package strictyaml reads one YAML document into structs by their json tags, and
// has the place of every mistake: unknown and double keys, aliases, tags, and
// strings that YAML takes for something else (1.30 is the number 1.3).
//
// It isn't for Kubernetes objects, which are read as API servers read them.
package strictyaml

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

	yaml "go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/fault"
)

// Options are what messages say of a kind of file. All may be empty.
type Options struct {
	File  string                  // what the file is, such as versions.yaml
	Types map[reflect.Type]string // what structs are
	Lists map[string]string       // what lists hold whose key doesn't say it
	Help  string                  // where keys are explained
	Nulls bool                    // an empty value means an empty list or mapping
	Mask  func(line string) string
}

// Document is a document, and the mistakes that were found in it so far.
type Document struct {
	Name   string
	Root   *yaml.Node // nil: the document is empty
	Faults []error    // each a *fault.Error

	lines []string
	o     Options
}

// Parse reads the only document of src. Its errors are *fault.Error.
func Parse(name string, src []byte, o Options) (d *Document, err error) {
	d = &Document{Name: name, lines: strings.Split(string(src), "\n"), o: o}
	defer func() {
		if p := recover(); p != nil {
			err = d.syntax(fmt.Errorf("the parser gave up: %v", p))
		}
	}()
	src = newer.ReplaceAllLiteral(src, []byte("%YAML 1.1")) // the parser takes no other
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var n yaml.Node
		switch err := dec.Decode(&n); {
		case errors.Is(err, io.EOF):
			return d, nil
		case err != nil:
			return nil, d.syntax(err)
		case len(n.Content) == 0 || n.Content[0].ShortTag() == "!!null":
		case d.Root != nil:
			return nil, d.At(n.Content[0], "a second document; "+d.o.File+" has one", "leave it out, and the --- before it")
		default:
			d.Root = n.Content[0]
		}
	}
}

var newer = regexp.MustCompile(`(?m)^%YAML 1\.2\b`) // comments may be above it

var yamlLine = regexp.MustCompile(`^line ([0-9]+): `)

// syntax words an error of the parser, which knows the line alone.
func (d *Document) syntax(err error) *fault.Error {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	n := &yaml.Node{}
	if m := yamlLine.FindStringSubmatch(what); m != nil {
		what = what[len(m[0]):]
		if n.Line, _ = strconv.Atoi(m[1]); strings.HasPrefix(what, "did not find expected") {
			n.Line++ // of these errors the parser counts lines from 0
		}
		n.Line = min(n.Line, len(d.lines))
		line := d.lines[n.Line-1]
		n.Column = len(line) - len(strings.TrimLeft(line, " ")) + 1
	}
	return d.At(n, "it isn't YAML: "+what, "fix the syntax there")
}

// At is a mistake at n, and shows its line; nil is the whole file.
func (d *Document) At(n *yaml.Node, what, fix string) *fault.Error {
	e := &fault.Error{Where: d.Name, What: what, Fix: fix}
	if n == nil || n.Line < 1 {
		return e
	}
	e.Where = fmt.Sprintf("%s:%d:%d", d.Name, n.Line, max(n.Column, 1))
	if n.Line <= len(d.lines) {
		e.Excerpt = d.excerpt(n.Line, n.Column)
	}
	return e
}

// longest is how many characters of a line are shown: a file of JSON may be one line.
const longest = 1000

// excerpt is a line with a caret below the column.
func (d *Document) excerpt(number, column int) string {
	line := strings.ToValidUTF8(strings.TrimRight(d.lines[number-1], "\r"), "?")
	if d.o.Mask != nil {
		line = d.o.Mask(line)
	}
	head, runes := fmt.Sprintf("%5d | ", number), []rune(line)
	if len(runes) > longest {
		line = string(runes[:longest]) + "..."
	}
	if column < 1 || column > min(len(runes), longest)+1 {
		return head + line
	}
	before := strings.Map(func(r rune) rune {
		if r != '\t' {
			return ' '
		}
		return r
	}, string(runes[:column-1]))
	return head + line + "\n" + strings.Repeat(" ", len(head)-2) + "| " + before + "^"
}

// Report adds a mistake at n. Nobody reads more than a hundred, and each costs its line.
func (d *Document) Report(n *yaml.Node, what, fix string) {
	if len(d.Faults) < 100 {
		d.Faults = append(d.Faults, d.At(n, what, fix))
	}
}

// Node follows path, of string keys and int indexes, and returns the deepest node
// on it that exists and whether that is the whole path.
func (d *Document) Node(path ...any) (*yaml.Node, bool) {
	n := d.Root
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

// Decode fills into, a pointer to a struct, and adds the mistakes to Faults. A struct
// with a method Begin keeps where it is, and each of its keys.
func (d *Document) Decode(into any) {
	if d.Root != nil {
		d.value(d.Root, "", reflect.ValueOf(into).Elem())
	}
}

func (d *Document) value(n *yaml.Node, key string, v reflect.Value) {
	empty := d.o.Nulls && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
	switch kind := v.Kind(); {
	case n.Kind == yaml.AliasNode:
		d.Report(n, "aliases aren't supported", "write the value out")
	case kind == reflect.Struct:
		d.fields(n, v)
	case kind == reflect.Pointer && !empty:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, key, v.Elem())
	case kind == reflect.Slice && !empty:
		d.list(n, key, v)
	case kind == reflect.Map && !empty:
		d.table(n, key, v)
	case kind != reflect.Pointer && kind != reflect.Slice && kind != reflect.Map:
		d.scalar(n, v)
	}
}

func (d *Document) fields(n *yaml.Node, v reflect.Value) {
	what := d.o.Types[v.Type()]
	if n.Kind != yaml.MappingNode {
		d.Report(n, strings.TrimSpace(what+" must be a mapping (key: value)"), d.o.Help)
		return
	}
	at := map[string]*yaml.Node(nil)
	if p, ok := v.Addr().Interface().(interface {
		Begin(n *yaml.Node) map[string]*yaml.Node
	}); ok {
		at = p.Begin(n)
	}
	fields := fieldsOf(v.Type())
	d.pairs(n, func(key string, k, value *yaml.Node) {
		i, known := fields[key]
		if !known {
			names := slices.Sorted(maps.Keys(fields))
			fix := "known keys: " + strings.Join(names, ", ")
			if near := fault.Nearest(key, names); near != "" {
				fix = "did you mean " + near + "?"
			}
			d.Report(k, strings.TrimSuffix(fmt.Sprintf("unknown key %q in %s", key, what), " in "), fix)
			return
		}
		if at != nil {
			at[key] = value
		}
		d.value(value, key, v.Field(i))
	})
}

// pairs are a mapping's, without those that are there again.
func (d *Document) pairs(n *yaml.Node, read func(key string, k, value *yaml.Node)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			d.Report(k, "a key must be a name", "write it out")
			continue
		}
		if seen[k.Value] {
			d.Report(k, fmt.Sprintf("key %q stands here twice", k.Value), "remove one of them")
			continue
		}
		seen[k.Value] = true
		read(k.Value, k, n.Content[i+1])
	}
}

func (d *Document) list(n *yaml.Node, key string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		what, said := d.o.Lists[key]
		switch {
		case said:
		case v.Type().Elem().Kind() == reflect.String:
			what = "strings"
		default:
			what = key
		}
		d.Report(n, "must be a list of "+what, "start each item with a dash")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(item, key, v.Index(i))
	}
}

func (d *Document) table(n *yaml.Node, key string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.Report(n, "must be a mapping (name: value)", "write one name: value a line")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, func(name string, _, value *yaml.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(value, key, item)
		v.SetMapIndex(reflect.ValueOf(name), item)
	})
}

func (d *Document) scalar(n *yaml.Node, v reflect.Value) {
	tag, tagged := n.ShortTag(), n.Style&yaml.TaggedStyle != 0
	switch kind := v.Kind(); {
	case kind == reflect.String && !tagged && (tag == "!!str" || tag == "!!timestamp"):
		v.SetString(n.Value)
	case kind == reflect.String:
		what, fix := noString(n, tag)
		d.Report(n, what, fix)
	case kind == reflect.Bool && !tagged && tag == "!!bool":
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case kind == reflect.Bool:
		d.Report(n, "must be true or false", "write true or false, unquoted")
	default:
		whole, err := strconv.ParseInt(n.Value, 10, 32)
		switch {
		case tagged || tag != "!!int" || err != nil || kind == reflect.Uint && whole < 0:
			d.Report(n, "must be a whole number", "write 0 or more, unquoted")
		case kind == reflect.Uint:
			v.SetUint(uint64(whole))
		default:
			v.SetInt(whole)
		}
	}
}

// noString says what YAML reads where a string is wanted.
func noString(n *yaml.Node, tag string) (what, fix string) {
	as := map[string]string{"!!int": "a whole number", "!!bool": "a truth value", "!!null": "nothing"}[tag]
	if f, err := strconv.ParseFloat(n.Value, 64); tag == "!!float" && err == nil {
		as = fmt.Sprintf("the number %v", f)
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == "":
		return "the value is missing", "write it, or leave the key out"
	case n.Style&yaml.TaggedStyle != 0:
		return "tags such as " + tag + " aren't supported", fmt.Sprintf("quote it in place of the tag: %q", n.Value)
	case as != "":
		return fmt.Sprintf("YAML reads %s as %s, not as a string", n.Value, as), fmt.Sprintf("quote it: %q", n.Value)
	}
	return "must be a string", "write one value, in quotes"
}

var fieldsByType sync.Map // reflect.Type to map[string]int

func fieldsOf(t reflect.Type) map[string]int {
	if fields, ok := fieldsByType.Load(t); ok {
		return fields.(map[string]int)
	}
	fields := map[string]int{}
	for i := range t.NumField() {
		if name := Key(t.Field(i)); name != "" {
			fields[name] = i
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// Key is a field's name in the file; "" for a field that isn't there.
func Key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}
