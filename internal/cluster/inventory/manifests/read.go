package manifests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

// text reads a file's documents.
func (r *reader) text(ctx context.Context, file string, src []byte) error {
	src, err := decodeText(src)
	if err != nil {
		r.problem(inventory.Problem{Where: file + ":1", What: err.Error(), Fix: "leave it out, unpack it, or give a must-gather with --must-gather"})
		return nil //nolint:nilerr // the others are read
	}
	if template := carvel(file, src); template != nil {
		r.problem(*template)
		r.template = true
	}
	for _, d := range documents(file, src) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.document(&d, object{}); err != nil {
			r.refuse(&d, err)
		}
	}
	return nil
}

// large is the size in bytes from which a List of YAML is cut into its items before it
// is parsed: as one tree it takes some ten times its size.
const large = 1 << 20

// document takes the objects of a document; within is the List that it is in.
func (r *reader) document(d *document, within object) error {
	text := bytes.TrimSpace(d.text)
	if bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[")) {
		taken := r.documents
		err := r.json(d)
		if err == nil || r.documents > taken || bytes.HasPrefix(bytes.TrimLeft(text, "{[ \t\r\n"), []byte(`"`)) {
			return err
		}
		// YAML's flow style starts like JSON.
	}
	if len(d.text) >= large && r.largeList(d) {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(d.text))
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(n.Content) == 0 || n.Content[0].ShortTag() == "!!null" {
			continue
		}
		if within == (object{}) {
			r.documents++
		}
		yamlnode.Kubernetes(&n)
		if err := r.node(d, n.Content[0], within); err != nil {
			return err
		}
	}
}

// largeList takes a large List item by item; false is for a document that isn't one.
func (r *reader) largeList(d *document) bool {
	rest, items, ok := yamlnode.Items(bytes.Clone(d.text))
	var list object
	if !ok || yaml.Unmarshal(rest, &list) != nil || !list.isList() {
		return false
	}
	r.documents++
	r.objects++
	r.inList = true
	defer func() { r.inList = false }()
	for _, item := range items {
		one := document{d.file, d.line + item.Line - 1, item.Text}
		if err := r.document(&one, list.item()); err != nil {
			r.refuse(&one, err)
		}
	}
	return true
}

// json takes objects, one after the other.
func (r *reader) json(d *document) error {
	dec := json.NewDecoder(bytes.NewReader(d.text))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		end := int(dec.InputOffset())
		if err != nil {
			return d.notJSON(err, end)
		}
		r.documents++
		one := document{d.file, d.line + bytes.Count(d.text[:end-len(raw)], []byte("\n")), raw}
		if err := r.raw(&one, object{}); err != nil {
			r.refuse(&one, err)
		}
	}
}
