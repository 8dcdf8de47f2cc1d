package pins

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

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
