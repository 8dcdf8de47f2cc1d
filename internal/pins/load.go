package pins

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

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
			d.items(n, "a list of components", func(item ast.Node) { v.component(item) })
		}),
		"services": v.keep("services", d.list("a list of services", v.service)),
	})
	if len(d.errs) == 0 {
		v.check(root)
	}
	if err := joinFaults(d.errs); err != nil {
		return nil, err
	}
	return f, nil
}

// component reads one component and remembers where each key stands.
func (v *validator) component(n ast.Node) {
	d, c := v.document, Component{pos: positionOf(n)}
	at := map[string]ast.Node{"": n}
	keep := func(key string, read func(ast.Node)) func(ast.Node) {
		return func(n ast.Node) { at[key] = n; read(n) }
	}
	var g Godebug
	d.fields(n, "a component", map[string]func(ast.Node){
		"name":       keep("name", d.text(&c.Name)),
		"module":     keep("module", d.text(&c.Module)),
		"version":    keep("version", d.text(&c.Version)),
		"git":        keep("git", d.text(&c.Git)),
		"commit":     keep("commit", d.text(&c.Commit)),
		"submodules": keep("submodules", d.boolean(&c.Submodules)),
		"dir":        keep("dir", d.text(&c.Dir)),
		"path":       keep("path", d.text(&c.Path)),
		"file":       keep("file", d.text(&c.File)),
		"sha256":     keep("sha256", d.text(&c.SHA256)),
		"package":    keep("package", d.text(&c.Package)),
		"stamp":      keep("stamp", d.table(&c.Stamp)),
		"tags":       keep("tags", d.texts(&c.Tags)),
		"fips":       keep("fips", d.text(&c.FIPS)),
		"go":         keep("go", d.text(&c.Go)),
		"memory":     keep("memory", d.text(&c.Memory)),
		"payload":    keep("payload", d.text(&c.Payload)),
		"install":    keep("install", d.text(&c.Install)),
		"godebug": keep("godebug", func(n ast.Node) {
			c.Godebug = &g
			d.fields(n, "godebug", map[string]func(ast.Node){
				"go": d.text(&g.Go), "set": d.table(&g.Set), "reason": d.text(&g.Reason),
			})
		}),
		"allow-outside": keep("allow-outside", d.boolean(&c.AllowOutside)),
	})
	v.file.Components = append(v.file.Components, c)
	v.at = append(v.at, at)
}

// splitFaults undoes joinFaults.
func splitFaults(err error) []error {
	if many, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		return many.Unwrap()
	}
	return []error{err}
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
