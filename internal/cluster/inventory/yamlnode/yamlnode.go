// Package yamlnode finds things in YAML: what is below a node, on which line it is,
// and the items of a list that is too large to be parsed at once.
package yamlnode

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Resolve follows an alias: what has an anchor is no alias itself.
func Resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Get is a mapping's value, nil where there is none.
func Get(n *yaml.Node, name string) *yaml.Node {
	_, value := child(n, name)
	return value
}

// child is what is under a key or an index of n, with the key's node.
func child(n *yaml.Node, step any) (name, value *yaml.Node) {
	n = Resolve(n)
	if key, ok := step.(string); ok && n != nil && n.Kind == yaml.MappingNode {
		return member(n, key, 0)
	}
	if i, ok := step.(int); ok && n != nil && n.Kind == yaml.SequenceNode && i >= 0 && i < len(n.Content) {
		return n.Content[i], Resolve(n.Content[i])
	}
	return nil, nil
}

// member looks a key up, in the mappings that are merged in (<<) last.
func member(n *yaml.Node, step string, depth int) (name, value *yaml.Node) {
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Value == step && k.Kind == yaml.ScalarNode {
			return k, Resolve(n.Content[i+1])
		}
		if IsMerge(k) {
			merged = append(merged, n.Content[i+1])
		}
	}
	for _, m := range Merged(merged) {
		if depth > maxMerges {
			break
		}
		if name, value = member(m, step, depth+1); value != nil {
			return name, value
		}
	}
	return nil, nil
}

// maxMerges bounds mappings that are merged into what is merged.
const maxMerges = 10

// IsMerge tells the key <<.
func IsMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.ShortTag() == "!!merge"
}

// Merged are the mappings that a merge key names: one, or a list.
func Merged(merged []*yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	for _, m := range merged {
		m = Resolve(m)
		switch {
		case m == nil:
		case m.Kind == yaml.MappingNode:
			out = append(out, m)
		case m.Kind == yaml.SequenceNode:
			for _, one := range m.Content {
				if one = Resolve(one); one != nil && one.Kind == yaml.MappingNode {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

// Line is that of what a path of keys and indexes leads to below n, or of the nearest
// thing above it that is there.
func Line(n *yaml.Node, path ...any) int {
	line := n.Line
	for _, step := range path {
		name, value := child(n, step)
		if value == nil {
			break
		}
		line, n = name.Line, value
	}
	return line
}

// Item is the text of one item of a list, and the line, from 1, that it starts at.
type Item struct {
	Line int
	Text []byte
}

// Items cuts the block sequence below a top-level "items:", the form that
// kubectl prints, by the indent of its dashes. rest is the document without
// them; ok is false for a document of another form.
func Items(text []byte) (rest []byte, items []Item, indent int, ok bool) {
	const unknown = -1
	indent = unknown
	line, start := 0, 0
	for offset := 0; offset < len(text); line++ {
		end := len(text)
		if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		raw := bytes.TrimRight(text[offset:end], " \t\r\n")
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
			items = closeItem(items, text, start, offset)
			indent, start = spaces, offset
			items = append(items, Item{Line: line + 1})
		case indent == unknown || spaces <= indent:
			return append(rest, text[offset:]...), closeItem(items, text, start, offset), indent, indent != unknown
		}
		offset = end
	}
	return rest, closeItem(items, text, start, len(text)), indent, ok && indent != unknown
}

func closeItem(items []Item, text []byte, start, end int) []Item {
	if n := len(items); n > 0 {
		items[n-1].Text = text[start:end]
	}
	return items
}
