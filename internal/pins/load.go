package pins

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/winsvc"
)

// Load reads and checks versions.yaml. Every mistake that was found is in the
// error, each with file:line:column.
func Load(path string) (*File, error) {
	src, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// ReadFile returns the text of versions.yaml.
func ReadFile(path string) ([]byte, error) {
	src, err := infile.Read(path, maxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Where: path, What: "no such file", Fix: "run in the folder that holds versions.yaml, or name it: -f PATH", Err: err}
	case err != nil:
		return nil, &fault.Error{Where: path, What: "the pins can't be read: " + errors.Unwrap(err).Error(), Fix: "name versions.yaml itself: -f PATH", Err: err}
	}
	return src, nil
}

// Parse is Load for bytes that are there already. path is used in messages
// and for what is relative to the file.
func Parse(path string, src []byte) (*File, error) {
	src = bytes.TrimPrefix(src, []byte(byteOrderMark))
	d := newDocument(path, src)
	root, err := d.root(src)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, document: d}
	d.read(root, reflect.ValueOf(f).Elem())
	if len(d.errs) == 0 {
		(&validator{d, f}).check(root)
	}
	if err := joinFaults(d.errs); err != nil {
		return nil, err
	}
	return f, nil
}

// words name a struct of versions.yaml, and what a list is of whose key doesn't, in
// messages.
var (
	words = map[reflect.Type]string{
		reflect.TypeFor[File]():             "versions.yaml",
		reflect.TypeFor[Component]():        "a component",
		reflect.TypeFor[Godebug]():          "godebug",
		reflect.TypeFor[Service]():          "a service",
		reflect.TypeFor[Recovery]():         "recovery",
		reflect.TypeFor[winsvc.PreScript](): "a pre-script",
		reflect.TypeFor[winsvc.NodeArg]():   "a node argument",
	}
	listWords = map[string]string{"preScripts": "scripts", "nodeArgs": "names and paths"}
)

// read fills a struct from a mapping, and its places if it has them.
func (d *document) read(n ast.Node, into reflect.Value) {
	at := map[string]ast.Node{}
	if p, ok := into.Addr().Interface().(interface {
		begin(n ast.Node) map[string]ast.Node
	}); ok {
		at = p.begin(n)
	}
	readers := map[string]func(ast.Node){}
	for i := range into.NumField() {
		if key := keyOfField(into.Type().Field(i)); key != "" {
			readers[key] = func(n ast.Node) {
				at[key] = n
				d.value(n, key, into.Field(i))
			}
		}
	}
	d.fields(n, words[into.Type()], readers)
}

// value reads a key's value as what the field's type says.
func (d *document) value(n ast.Node, key string, into reflect.Value) {
	switch v := into.Addr().Interface().(type) {
	case *string:
		d.text(v)(n)
	case *bool:
		d.boolean(v, n)
	case *uint:
		d.whole(v, n)
	case *[]string:
		d.items(n, "a list of strings", func(item ast.Node) {
			var s string
			d.text(&s)(item)
			*v = append(*v, s)
		})
	case *map[string]string:
		d.table(v, n)
	default:
		d.structs(n, key, into)
	}
}

// structs reads a mapping into a pointer, or a list of them.
func (d *document) structs(n ast.Node, key string, into reflect.Value) {
	item := func(n ast.Node) reflect.Value {
		v := reflect.New(into.Type().Elem())
		d.read(n, v.Elem())
		return v
	}
	if into.Kind() == reflect.Pointer {
		into.Set(item(n))
		return
	}
	d.items(n, "a list of "+cmp.Or(listWords[key], key), func(n ast.Node) { into.Set(reflect.Append(into, item(n).Elem())) })
}

// SetPin returns src with one component's pin changed: the version of a
// module, the commit of a git source, the sha256 of a file. Every other byte
// stays, comments and line ends included.
func SetPin(path string, src []byte, name, value string) ([]byte, error) {
	if rest, marked := bytes.CutPrefix(src, []byte(byteOrderMark)); marked {
		edited, err := SetPin(path, rest, name, value)
		if err != nil {
			return nil, err
		}
		return append([]byte(byteOrderMark), edited...), nil
	}
	f, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	c, err := f.Component(name)
	if err != nil {
		return nil, err
	}
	kind, d := c.kind(), f.document
	value = strings.TrimPrefix(value, "sha256:")
	node := c.at[kind.pin]
	edited, err := splice(d, src, node, value, kind.quoted)
	if err != nil {
		return nil, err
	}
	after, err := Parse(path, edited)
	if err != nil {
		return nil, err
	}
	if got, err := after.Component(name); err != nil || got.text(kind.pin) != value {
		return nil, d.at(node, "this value can't be changed in place", "edit versions.yaml by hand, then: bake lock "+name)
	}
	return edited, nil
}

// splice puts value in the place of node's scalar, in the same quotes.
func splice(d *document, src []byte, node ast.Node, value string, quoted bool) ([]byte, error) {
	p := positionOf(node)
	if p.line < 1 || p.line > len(d.lines) {
		return nil, fmt.Errorf("line %d isn't in the file", p.line)
	}
	start := 0
	for _, l := range d.lines[:p.line-1] {
		start += len(l) + 1
	}
	line := d.lines[p.line-1]
	column := len(string([]rune(line)[:min(p.column-1, len([]rune(line)))])) // columns count characters
	rest := line[column:]
	var old, fresh string
	switch {
	case strings.HasPrefix(rest, `"`), strings.HasPrefix(rest, "'"):
		end := strings.Index(rest[1:], rest[:1])
		if end < 0 {
			return nil, d.at(node, "a value over several lines can't be changed in place", "edit versions.yaml by hand")
		}
		old, fresh = rest[:end+2], rest[:1]+value+rest[:1]
	default:
		old, fresh = node.GetToken().Value, value
		if quoted {
			fresh = `"` + value + `"`
		}
	}
	if !strings.HasPrefix(rest, old) {
		return nil, d.at(node, "this value can't be changed in place", "edit versions.yaml by hand")
	}
	at := start + column
	return bytes.Join([][]byte{src[:at], []byte(fresh), src[at+len(old):]}, nil), nil
}
