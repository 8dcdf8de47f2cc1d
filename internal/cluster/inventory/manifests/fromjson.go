package manifests

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isJSON tells JSON from YAML by its first character, or the second of a list
// of objects. YAML's flow style starts so too, but seldom with a quoted key.
func isJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if rest, list := bytes.CutPrefix(text, []byte("[")); list {
		text = bytes.TrimLeft(rest, " \t\r\n")
	}
	return bytes.HasPrefix(text, []byte("{"))
}

func quoted(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n{[")
	return bytes.HasPrefix(text, []byte{'"'})
}

// jsonReader builds YAML nodes of JSON. The YAML parser takes most of JSON, but
// not its tabs and surrogate pairs, and is slower.
type jsonReader struct {
	dec  *stdjson.Decoder
	text []byte
	// offset and line are the last place that was asked for.
	offset, line, bol int
	// item is offered each member of a top-level "items"; what it takes isn't
	// kept.
	item func(*yaml.Node) bool
	key  string // the last key of the top level
}

func (j *jsonReader) failure(d *document, err error) error {
	if f := d.template(); f != nil {
		return f
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	offset, what := j.dec.InputOffset(), err.Error()
	if s, ok := errors.AsType[*stdjson.SyntaxError](err); ok {
		offset = max(s.Offset-1, offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		offset, what = int64(len(d.text)), "it ends too early: it is cut off"
	}
	for offset < int64(len(d.text)) && strings.IndexByte(" \t\r\n", d.text[offset]) >= 0 {
		offset++
	}
	j.offset, j.line, j.bol = 0, 1, 0
	line, column := j.place(min(int(offset), len(d.text)))
	return &failure{where: d.at(line, column), what: "this isn't JSON: " + what}
}

// value reads the next value; nil and io.EOF at the end.
func (j *jsonReader) value(depth int) (*yaml.Node, error) {
	if depth > maxDepth {
		return nil, errors.New("it is nested too deep")
	}
	token, err := j.dec.Token()
	if err != nil {
		return nil, err
	}
	return j.node(token, depth)
}

// node makes a node of a token, and of what follows an opening one.
func (j *jsonReader) node(token stdjson.Token, depth int) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Tag: "!!str"}
	n.Line, n.Column = j.place(int(j.dec.InputOffset()))
	switch v := token.(type) {
	case stdjson.Delim:
		return n, j.fill(n, v, depth)
	case string:
		n.Value = v
		n.Column = max(n.Column-len(v)-2, 1)
	case stdjson.Number:
		n.Style, n.Tag, n.Value = 0, "!!int", v.String()
		n.Column = max(n.Column-len(v), 1)
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Style, n.Tag, n.Value = 0, "!!bool", fmt.Sprint(v)
	case nil:
		n.Style, n.Tag, n.Value = 0, "!!null", "null"
	}
	return n, nil
}

func (j *jsonReader) fill(n *yaml.Node, open stdjson.Delim, depth int) error {
	n.Style, n.Column = 0, max(n.Column-1, 1)
	n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	isItems := depth == 1 && open == '[' && j.key == "items"
	for j.dec.More() {
		child, err := j.value(depth + 1)
		if err != nil {
			return ended(err)
		}
		if isItems && j.item(child) {
			continue
		}
		n.Content = append(n.Content, child)
		if open != '{' {
			continue
		}
		if depth == 0 {
			j.key = child.Value
		}
		if child, err = j.value(depth + 1); err != nil {
			return ended(err)
		}
		n.Content = append(n.Content, child)
	}
	_, err := j.dec.Token()
	return ended(err)
}

// ended makes an end of the input inside of a value what it is.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// place is the line and column of an offset. Offsets are asked for in rising
// order, so that the text is gone through once.
func (j *jsonReader) place(offset int) (line, column int) {
	for {
		i := bytes.IndexByte(j.text[j.offset:offset], '\n')
		if i < 0 {
			break
		}
		j.offset += i + 1
		j.line++
		j.bol = j.offset
	}
	j.offset = offset
	return j.line, offset - j.bol + 1
}

// large is the size in bytes from which a List is cut into its items before it
// is parsed: as one tree it takes some ten times its size.
const large = 1 << 20
