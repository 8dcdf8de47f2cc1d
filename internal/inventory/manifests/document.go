package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/stream"
)

type document struct {
	file string
	// line is added to the lines of nodes; JSON's are right as they are.
	line int
	text []byte
}

// where is file:line:column of a node.
func (d *document) where(n *yaml.Node) string { return d.at(n.Line, n.Column) }

// at is file:line:column of a place in the document's own lines.
func (d *document) at(line, column int) string {
	return fmt.Sprintf("%s:%d:%d", d.file, d.line+max(line, 1), max(column, 1))
}

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
		if err := r.object(d, n.Content[0], within); err != nil {
			return err
		}
	}
}

// oldDirective has a document say that it is YAML 1.1: the parser refuses 1.2,
// of which it reads the same.
func oldDirective(text []byte) []byte {
	const newer, older = "%YAML 1.2", "%YAML 1.1"
	if at := bytes.Index(text, []byte(newer)); at >= 0 && (at == 0 || text[at-1] == '\n') {
		text = bytes.Clone(text)
		copy(text[at:], older)
	}
	return text
}

// decode guards against the parser: its own panics it turns into errors, those
// of the run time on input that nobody thought of it doesn't.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: the parser gave up: %v", p)
		}
	}()
	return dec.Decode(n)
}
