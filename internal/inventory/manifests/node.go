package manifests

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/inventory/kube"
)

// resolve follows an alias; nil for one that leads to itself.
func resolve(n *yaml.Node) *yaml.Node {
	for range maxDepth {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// get is a mapping's value, nil where there is none.
func get(n *yaml.Node, name string) *yaml.Node {
	_, value := child(n, name)
	return value
}

// child is what is under a key or an index of n, with the key's node.
func child(n *yaml.Node, step any) (name, value *yaml.Node) {
	n = resolve(n)
	if n == nil {
		return nil, nil
	}
	switch step := step.(type) {
	case string:
		if n.Kind == yaml.MappingNode {
			return member(n, step, 0)
		}
	case int:
		if n.Kind == yaml.SequenceNode && step >= 0 && step < len(n.Content) {
			return n.Content[step], resolve(n.Content[step])
		}
	}
	return nil, nil
}

// member looks a key up, in the mappings that are merged in (<<) last.
func member(n *yaml.Node, step string, depth int) (name, value *yaml.Node) {
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Value == step && k.Kind == yaml.ScalarNode {
			return k, resolve(n.Content[i+1])
		}
		if isMerge(k) {
			merged = append(merged, n.Content[i+1])
		}
	}
	for _, m := range sources(merged) {
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

func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.ShortTag() == "!!merge"
}

// sources are the mappings that a merge key names: one, or a list.
func sources(merged []*yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	for _, m := range merged {
		m = resolve(m)
		switch {
		case m == nil:
		case m.Kind == yaml.MappingNode:
			out = append(out, m)
		case m.Kind == yaml.SequenceNode:
			for _, one := range m.Content {
				if one = resolve(one); one != nil && one.Kind == yaml.MappingNode {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

func (d *document) locator(root *yaml.Node) kube.Locator {
	return func(path ...any) string {
		line, n := root.Line, root
		for _, step := range path {
			name, value := child(n, step)
			if value == nil {
				break
			}
			line, n = name.Line, value
		}
		return fmt.Sprintf("%s:%d", d.file, d.line+line)
	}
}
