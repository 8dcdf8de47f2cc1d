package manifests

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

// maxAliased bounds what aliases make of a document, in bytes of JSON: enough
// for any object that etcd takes, far too little for an alias bomb.
const maxAliased = 2 << 20

// writer makes JSON of nodes, which Kubernetes' types decode, and remembers
// where in it each value came from.
type writer struct {
	d   *document
	buf bytes.Buffer
	at  []place
	// open are the aliases that are being written, each inside of the last.
	open []*yaml.Node
	// doubt is the first key of the object that is there twice.
	doubt error
	// aliased counts the bytes that came in through aliases.
	aliased, depth int
}

// place is where what ends at an offset of the JSON was read: a value, or the
// bracket that opens it.
type place struct {
	offset       int
	line, column int
}

func (w *writer) reset(d *document) {
	w.d, w.at, w.open, w.doubt, w.aliased, w.depth = d, w.at[:0], w.open[:0], nil, 0, 0
	w.buf.Reset()
}

func (w *writer) write(n *yaml.Node) error {
	if w.depth++; w.depth > maxDepth {
		return failed(w.d, n, "this is nested too deep")
	}
	defer func() { w.depth-- }()
	start := w.buf.Len()
	var err error
	switch n.Kind {
	case yaml.AliasNode:
		return w.alias(n)
	case yaml.MappingNode:
		err = w.mapping(n)
	case yaml.SequenceNode:
		err = w.sequence(n)
	case yaml.ScalarNode:
		w.scalar(n)
		if len(w.open) > 0 {
			w.aliased += w.buf.Len() - start + 1
		}
	case yaml.DocumentNode:
		err = failed(w.d, n, "a document stands inside of a document")
	}
	w.mark(n)
	return err
}

func (w *writer) mark(n *yaml.Node) { w.at = append(w.at, place{w.buf.Len(), n.Line, n.Column}) }

func (w *writer) alias(n *yaml.Node) error {
	if slices.Contains(w.open, n.Alias) {
		return failed(w.d, n, "the alias *"+n.Value+" stands for something that it is itself part of")
	}
	w.aliased++
	if w.aliased > maxAliased {
		return failed(w.d, n, "aliases make this document absurdly large")
	}
	w.open = append(w.open, n.Alias)
	err := w.write(n.Alias)
	w.open = w.open[:len(w.open)-1]
	return err
}

func (w *writer) sequence(n *yaml.Node) error {
	w.buf.WriteByte('[')
	w.mark(n)
	for i, item := range n.Content {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		if err := w.write(item); err != nil {
			return err
		}
	}
	w.buf.WriteByte(']')
	return nil
}

func (w *writer) mapping(n *yaml.Node) error {
	w.buf.WriteByte('{')
	w.mark(n)
	err := w.members(n, make(map[string]bool, len(n.Content)/2))
	w.buf.WriteByte('}')
	return err
}

// members writes a mapping's members that aren't in names yet, and then those
// that are merged in. Of a key that stands twice the last one counts, as
// kubectl has it.
func (w *writer) members(n *yaml.Node, names map[string]bool) error {
	var merges []*yaml.Node
	last := lastOf(n)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := yamlnode.Resolve(n.Content[i]), n.Content[i+1]
		switch {
		case k == nil || k.Kind != yaml.ScalarNode:
			if f := w.d.template(); f != nil {
				return f // {{ .Values.x }} is a mapping whose key is a mapping
			}
			return failed(w.d, n.Content[i], "a key isn't a text")
		case yamlnode.IsMerge(k):
			merges = append(merges, v)
			continue
		case last[k.Value] != i:
			if w.doubt == nil {
				w.doubt = failed(w.d, n.Content[last[k.Value]], fmt.Sprintf("the key %s stands twice; the last one counts", printable.Quote(k.Value)))
			}
			continue
		case names[k.Value]:
			continue
		}
		if len(names) > 0 {
			w.buf.WriteByte(',')
		}
		names[k.Value] = true
		w.text(k.Value)
		w.buf.WriteByte(':')
		if err := w.write(v); err != nil {
			return err
		}
	}
	return w.merge(n, merges, names)
}

// lastOf is where each key of a mapping stands last.
func lastOf(n *yaml.Node) map[string]int {
	last := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := yamlnode.Resolve(n.Content[i]); k != nil && k.Kind == yaml.ScalarNode {
			last[k.Value] = i
		}
	}
	return last
}

func (w *writer) merge(n *yaml.Node, merges []*yaml.Node, names map[string]bool) error {
	for _, m := range yamlnode.Merged(merges) {
		if slices.Contains(w.open, m) || len(w.open) > maxDepth {
			return failed(w.d, n, "a mapping is merged into itself")
		}
		w.open = append(w.open, m)
		w.aliased++
		err := w.members(m, names)
		w.open = w.open[:len(w.open)-1]
		if err != nil {
			return err
		}
		if w.aliased > maxAliased {
			return failed(w.d, n, "aliases make this document absurdly large")
		}
	}
	return nil
}

// scalar writes a value as kubectl would understand it: by the rules of YAML
// 1.1, which has yes, no, on and off for booleans.
func (w *writer) scalar(n *yaml.Node) {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	tag := n.ShortTag()
	if tag == "!!bool" || tag == "!!str" && n.Style&(quoted|yaml.TaggedStyle) == 0 {
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on":
			w.buf.WriteString("true")
			return
		case "false", "no", "off":
			w.buf.WriteString("false")
			return
		}
	}
	switch tag {
	case "!!null":
		w.buf.WriteString("null")
	case "!!int", "!!float":
		w.number(n)
	default: // texts; dates, which Kubernetes has as texts; tags of others
		w.text(n.Value)
	}
}

// number writes what JSON can't, such as .nan, as a text.
func (w *writer) number(n *yaml.Node) {
	var v any
	if err := n.Decode(&v); err == nil {
		if b, err := stdjson.Marshal(v); err == nil {
			w.buf.Write(b)
			return
		}
	}
	w.text(n.Value)
}

func (w *writer) text(s string) {
	b, _ := stdjson.Marshal(s) // of a string it never fails
	w.buf.Write(b)
}

// into decodes what was written, and places its errors.
func (w *writer) into(v any) error {
	err := kjson.UnmarshalCaseSensitivePreserveInts(w.buf.Bytes(), v)
	if err == nil {
		return nil
	}
	// The standard decoder stops at the same value and tells where.
	again := reflect.New(reflect.TypeOf(v).Elem()).Interface()
	bad, ok := errors.AsType[*stdjson.UnmarshalTypeError](stdjson.Unmarshal(w.buf.Bytes(), again))
	where := w.d.at(1, 1)
	if !ok {
		return &failure{where: where, what: err.Error()}
	}
	if i, _ := slices.BinarySearchFunc(w.at, int(bad.Offset), func(p place, offset int) int { return p.offset - offset }); i < len(w.at) {
		where = w.d.at(w.at[i].line, w.at[i].column)
	}
	return &failure{where: where, what: fmt.Sprintf("%s is %s, which a %s can't be", bad.Field, article(bad.Value), bad.Type.Kind())}
}

func article(what string) string {
	if what == "array" || what == "object" {
		return "an " + what
	}
	return "a " + what
}
