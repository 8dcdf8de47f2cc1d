package manifests

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

func (r *reader) text(ctx context.Context, file string, src []byte) error {
	src, err := decodeText(src)
	if err != nil {
		r.problem(inventory.Problem{Where: file + ":1:1", What: err.Error(), Fix: "leave it out, unpack it, or give a must-gather with --must-gather"})
		return nil
	}
	template := carvel(file, src)
	if template != nil {
		r.problem(*template)
	}
	rendered := template == nil // no template was met in this file
	for c := range func(yield func(chunk) bool) { chunks(src, yield) } {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := &document{file: file, line: c.line - 1, text: c.text}
		if err := r.document(ctx, d); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			p, isTemplate := d.problem(err)
			if isTemplate && !rendered || template != nil {
				continue // one problem a file: they are all the same
			}
			rendered = rendered && !isTemplate
			r.problem(p)
		}
	}
	return nil
}

func (r *reader) document(ctx context.Context, d *document) error {
	if isJSON(d.text) {
		taken := r.documents
		err := r.jsonDocuments(ctx, d)
		if err == nil || r.documents > taken || quoted(d.text) {
			return err
		}
		// YAML's flow style starts like JSON.
	}
	if done, err := r.list(ctx, d); done {
		return err
	}
	return r.yamlDocuments(ctx, d, object{})
}

// yamlDocuments parses what chunks cut: one document, as a rule. within is the
// List that it is in.
func (r *reader) yamlDocuments(ctx context.Context, d *document, within object) error {
	dec := yaml.NewDecoder(stream.NewReader(ctx, bytes.NewReader(oldDirective(d.text))))
	for {
		var n yaml.Node
		err := decode(dec, &n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n.Kind != yaml.DocumentNode || len(n.Content) == 0 || n.Content[0].ShortTag() == "!!null" {
			continue
		}
		if within == (object{}) {
			r.documents++
		}
		if err := r.object(d, n.Content[0], within, 0); err != nil {
			return err
		}
	}
}

// jsonDocuments reads objects, one after the other. The items of a List are
// taken one by one, so that a large one never is in memory as a whole; its kind
// comes after them, so those that don't tell their own are kept until then.
func (r *reader) jsonDocuments(ctx context.Context, d *document) error {
	j := &jsonReader{dec: stdjson.NewDecoder(stream.NewReader(ctx, bytes.NewReader(d.text))), text: d.text, line: 1}
	j.dec.UseNumber()
	j.item = func(n *yaml.Node) bool {
		if n.Kind != yaml.MappingNode || yamlnode.Get(n, "kind") == nil {
			return false
		}
		if err := r.object(d, n, object{}, 1); err != nil {
			r.refuse(d, err)
		}
		return true
	}
	for {
		n, err := j.value(0)
		if errors.Is(err, io.EOF) && n == nil {
			return nil
		}
		if err != nil {
			return j.failure(d, err)
		}
		r.documents++
		if err := r.object(d, n, object{}, 0); err != nil {
			return err
		}
	}
}

// list takes a large List item by item; done is false for a document that
// isn't one and is to be parsed whole.
func (r *reader) list(ctx context.Context, d *document) (done bool, err error) {
	if len(d.text) < large {
		return false, nil
	}
	rest, items, indent, ok := yamlnode.Items(d.text)
	if !ok {
		return false, nil
	}
	var head yaml.Node
	if err := yaml.Unmarshal(rest, &head); err != nil || len(head.Content) == 0 || yamlnode.Resolve(head.Content[0]).Kind != yaml.MappingNode {
		return false, nil //nolint:nilerr // what is wrong with it is told by the whole
	}
	o, err := d.kind(head.Content[0], object{})
	if err != nil || !isList(o.kind) {
		return false, nil //nolint:nilerr // told by the whole, too
	}
	r.documents++
	r.objects++
	for _, item := range items {
		item.Text[indent] = ' ' // the dash: what is left is the item's mapping
		one := &document{file: d.file, line: d.line + item.Line - 1, text: item.Text}
		if err := r.yamlDocuments(ctx, one, o.item()); err != nil {
			if ctx.Err() != nil {
				return true, ctx.Err()
			}
			r.refuse(one, err)
		}
	}
	return true, nil
}
