package pins

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// words name a struct of versions.yaml, and a list of it, in messages.
var words = map[reflect.Type]struct{ one, many string }{
	reflect.TypeFor[Component](): {one: "a component"},
	reflect.TypeFor[Godebug]():   {one: "godebug"},
	reflect.TypeFor[Service]():   {one: "a service"},
	reflect.TypeFor[Recovery]():  {one: "recovery"},
	reflect.TypeFor[PreScript](): {"a pre-script", "a list of scripts"},
	reflect.TypeFor[NodeArg]():   {"a node argument", "a list of names and paths"},
}

// keyOfField is the key of a struct's field; "" for one that isn't read.
func keyOfField(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.TrimPrefix(key, "-")
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
