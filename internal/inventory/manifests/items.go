package manifests

import (
	"bytes"
	"context"

	"go.yaml.in/yaml/v3"
)

// large is the size in bytes from which a List is cut into its items before it
// is parsed: as one tree it takes some ten times its size.
const large = 1 << 20

// split cuts the block sequence below a top-level "items:", the form that
// kubectl prints, by the indent of its dashes. rest is the document without
// them; ok is false for a document of another form.
func split(text []byte) (rest []byte, items []chunk, indent int, ok bool) {
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
			items = append(items, chunk{line: line + 1})
		case indent == unknown || spaces <= indent:
			return append(rest, text[offset:]...), closeItem(items, text, start, offset), indent, indent != unknown
		}
		offset = end
	}
	return rest, closeItem(items, text, start, len(text)), indent, ok && indent != unknown
}

// closeItem gives the last item its text.
func closeItem(items []chunk, text []byte, start, end int) []chunk {
	if n := len(items); n > 0 {
		items[n-1].text = text[start:end]
	}
	return items
}

// list takes a large List item by item; done is false for a document that
// isn't one and is to be parsed whole.
func (r *reader) list(ctx context.Context, d *document) (done bool, err error) {
	if len(d.text) < large {
		return false, nil
	}
	rest, items, indent, ok := split(d.text)
	if !ok {
		return false, nil
	}
	var head yaml.Node
	if err := yaml.Unmarshal(rest, &head); err != nil || len(head.Content) == 0 || resolve(head.Content[0]).Kind != yaml.MappingNode {
		return false, nil //nolint:nilerr // what is wrong with it is told by the whole
	}
	o, err := d.kind(head.Content[0], object{})
	if err != nil || !isList(o.kind) {
		return false, nil //nolint:nilerr // told by the whole, too
	}
	r.documents++
	r.objects++
	for _, item := range items {
		item.text[indent] = ' ' // the dash: what is left is the item's mapping
		one := &document{file: d.file, line: d.line + item.line - 1, text: item.text}
		if err := r.yamlDocuments(ctx, one, o.item()); err != nil {
			if ctx.Err() != nil {
				return true, ctx.Err()
			}
			p, _ := one.problem(err)
			r.problem(p)
		}
	}
	return true, nil
}
