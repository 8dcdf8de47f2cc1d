// Package yamlnode finds things in YAML: what is below a node, its value as
// Kubernetes reads it, and the items of a list that is too large to be parsed at once.
package yamlnode

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Get is a mapping's value, nil where there is none.
func Get(n *yaml.Node, name string) *yaml.Node {
	if n = Resolve(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return Resolve(n.Content[i+1])
		}
	}
	return nil
}

// Resolve follows an alias: what has an anchor is no alias itself.
func Resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Kubernetes has a document read as kubectl does: keys and dates are texts, and yes,
// no, on and off are booleans, as YAML 1.1 has them.
func Kubernetes(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode && child.ShortTag() != "!!merge" {
			child.Tag = "!!str"
			continue
		}
		Kubernetes(child)
	}
	if n.Kind != yaml.ScalarNode {
		return
	}
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	if n.Style != 0 && n.ShortTag() != "!!bool" {
		return
	}
	switch strings.ToLower(n.Value) {
	case "yes", "on":
		n.Tag, n.Value = "!!bool", "true"
	case "no", "off":
		n.Tag, n.Value = "!!bool", "false"
	}
}

// JSON is a node's value, which Kubernetes' types decode.
func JSON(n *yaml.Node) ([]byte, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Item is the text of one item of a list, and the line, from 1, that it starts at.
type Item struct {
	Line int
	Text []byte
}

// Items cuts the block sequence below a top-level "items:", the form that
// kubectl prints, by the indent of its dashes, which become spaces: what is left of
// an item is its mapping. rest is the document without them; ok is false for a
// document of another form.
func Items(text []byte) (rest []byte, items []Item, ok bool) {
	const unknown = -1
	indent, line, start, offset := unknown, 0, 0, 0
	end := func(at int) {
		if len(items) > 0 {
			text[start+indent] = ' '
			items[len(items)-1].Text = text[start:at]
		}
	}
	for l := range bytes.Lines(text) {
		line++
		raw := bytes.TrimRight(l, " \t\r\n")
		body := bytes.TrimLeft(raw, " ")
		spaces := len(raw) - len(body)
		dash := bytes.HasPrefix(body, []byte("- ")) || bytes.Equal(body, []byte("-"))
		switch {
		case !ok:
			if ok = bytes.Equal(raw, []byte("items:")); ok {
				rest = append(rest, text[:offset]...)
			}
		case len(body) == 0 || body[0] == '#':
		case dash && (indent == unknown || spaces == indent):
			end(offset)
			indent, start = spaces, offset
			items = append(items, Item{Line: line})
		case indent == unknown || spaces <= indent:
			end(offset)
			return append(rest, text[offset:]...), items, indent != unknown
		}
		offset += len(l)
	}
	end(len(text))
	return rest, items, ok && indent != unknown
}
