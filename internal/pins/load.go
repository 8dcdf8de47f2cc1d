package pins

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
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
	v := &validator{document: d, file: f, top: map[string]ast.Node{}}
	d.fields(root, "versions.yaml", map[string]func(ast.Node){
		"apiVersion": v.keep("apiVersion", d.text(&f.APIVersion)),
		"release":    v.keep("release", d.text(&f.Release)),
		"go":         v.keep("go", d.text(&f.Go)),
		"source":     v.keep("source", d.text(&f.Source)),
		"base":       v.keep("base", d.text(&f.Base)),
		"components": v.keep("components", func(n ast.Node) {
			d.items(n, "a list of components", func(item ast.Node) { f.Components = append(f.Components, v.component(item)) })
		}),
		"drivers": v.keep("drivers", func(n ast.Node) {
			d.items(n, "a list of drivers", func(item ast.Node) { f.Drivers = append(f.Drivers, v.component(item)) })
		}),
		"services": v.keep("services", func(n ast.Node) { d.items(n, "a list of services", v.service) }),
	})
	if len(d.errs) == 0 {
		v.check(root)
	}
	if err := joinFaults(d.errs); err != nil {
		return nil, err
	}
	return f, nil
}

// component reads one component and remembers where each key is.
func (v *validator) component(n ast.Node) Component {
	c := Component{at: map[string]ast.Node{"": n}}
	v.read(n, reflect.ValueOf(&c).Elem(), func(key string, n ast.Node) { c.at[key] = n })
	return c
}

// words name a struct of versions.yaml, and a list of it, in messages.
var words = map[reflect.Type]struct{ one, many string }{
	reflect.TypeFor[Component](): {one: "a component"},
	reflect.TypeFor[Godebug]():   {one: "godebug"},
	reflect.TypeFor[Service]():   {one: "a service"},
	reflect.TypeFor[Recovery]():  {one: "recovery"},
	reflect.TypeFor[PreScript](): {"a pre-script", "a list of scripts"},
	reflect.TypeFor[NodeArg]():   {"a node argument", "a list of names and paths"},
}

// read fills a struct from a mapping. seen, which may be nil, is told of each
// of its keys and the key's value.
func (d *document) read(n ast.Node, into reflect.Value, seen func(key string, value ast.Node)) {
	readers := map[string]func(ast.Node){}
	for i := range into.NumField() {
		key := keyOfField(into.Type().Field(i))
		if key == "" {
			continue
		}
		readers[key] = func(n ast.Node) {
			if seen != nil {
				seen(key, n)
			}
			d.value(n, into.Field(i))
		}
	}
	d.fields(n, words[into.Type()].one, readers)
}

// value reads a value as what the field's type says.
func (d *document) value(n ast.Node, into reflect.Value) {
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
		d.structs(n, into)
	}
}

// structs reads a mapping into a pointer, or a list of them.
func (d *document) structs(n ast.Node, into reflect.Value) {
	one := into.Type().Elem()
	item := func(n ast.Node) reflect.Value {
		v := reflect.New(one)
		d.read(n, v.Elem(), nil)
		return v
	}
	if into.Kind() == reflect.Pointer {
		into.Set(item(n))
		return
	}
	d.items(n, words[one].many, func(n ast.Node) { into.Set(reflect.Append(into, item(n).Elem())) })
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

// service reads one service and remembers where each key and item is.
func (v *validator) service(n ast.Node) {
	s := Service{at: map[string]position{"": start(n)}, items: map[string][]position{}}
	v.read(n, reflect.ValueOf(&s).Elem(), func(key string, n ast.Node) {
		s.at[key] = start(n)
		if list, ok := n.(*ast.SequenceNode); ok {
			for _, item := range list.Values {
				s.items[key] = append(s.items[key], start(item))
			}
		}
	})
	v.file.Services = append(v.file.Services, s)
}
