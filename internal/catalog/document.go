package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/fault"
)

// apiVersion is what every document of the catalog begins with, and kindName what
// it may call itself.
const (
	apiVersion = "winbake.dev/catalog/v1"
	kindName   = "Catalog"
)

// maxBytes bounds one file; the largest of our own has 64 KiB.
const maxBytes = 16 << 20

type document struct {
	name    string
	lines   [][]byte
	root    *yaml.Node
	catalog Catalog
}

// parse reads one partial Catalog. A mistake is a *fault.Error with its place.
func parse(name string, src []byte) (*document, error) {
	d := &document{name: name}
	if len(src) > maxBytes {
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("the file has %d bytes; catalog data has at most %d", len(src), maxBytes), Fix: "check that it is catalog data, or split it"}
	}
	d.lines = bytes.Split(src, []byte("\n"))
	if err := d.read(src); err != nil {
		return nil, err
	}
	if m := decode(d.root, &d.catalog); m != nil {
		return nil, d.at(m.node, m.what, m.fix)
	}
	return d, nil
}

// read takes the one YAML document that a file has.
func (d *document) read(src []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	if err != nil && !errors.Is(err, io.EOF) {
		return d.syntax(err)
	}
	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		return &fault.Error{Where: d.name, What: "the file is empty", Fix: "begin it with: apiVersion: " + apiVersion}
	}
	d.root = doc.Content[0]
	switch err := dec.Decode(&next); {
	case err == nil:
		return d.at(&next, "a second document; catalog data has one", "put it into a file of its own")
	case !errors.Is(err, io.EOF):
		return d.syntax(err)
	}
	return nil
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
