package pins

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"

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
