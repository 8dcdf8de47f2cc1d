package mustgather

import (
	"bytes"
	"encoding/json"
	"errors"

	sigsyaml "sigs.k8s.io/yaml"
)

// documents splits a file into its objects. A list is cut into its items by
// their indent, so that one of 100 MB is never a tree in memory at once. src
// is changed.
func documents(file string, src []byte, isList bool) ([]document, error) {
	if !isList {
		return []document{{file: file, line: 1, text: src}}, nil
	}
	if docs, ok := splitItems(file, src); ok {
		return docs, nil
	}
	return decodeItems(file, src)
}

// splitItems cuts the block sequence below a top-level "items:", the form that
// oc prints; false for any other.
func splitItems(file string, src []byte) (docs []document, ok bool) {
	const unknown = -1
	indent := unknown
	line, offset := 0, 0
	for raw := range bytes.Lines(src) {
		line++
		start := offset
		offset += len(raw)
		text := bytes.TrimRight(raw, "\r\n")
		spaces := len(text) - len(bytes.TrimLeft(text, " "))
		rest := text[spaces:]
		dash := bytes.Equal(rest, []byte("-")) || bytes.HasPrefix(rest, []byte("- "))
		switch {
		case !ok:
			if ok = bytes.HasPrefix(text, []byte("items:")); ok {
				value := bytes.TrimSpace(text[len("items:"):])
				if len(value) > 0 {
					return nil, bytes.Equal(value, []byte("[]"))
				}
			}
		case len(rest) == 0 || rest[0] == '#':
		case dash && (indent == unknown || spaces == indent):
			indent = spaces
			docs = closeLast(docs, src, start)
			src[start+spaces] = ' '
			docs = append(docs, document{file: file, line: line, text: src[start:]})
		case indent == unknown || spaces <= indent:
			return closeLast(docs, src, start), ok
		}
	}
	return docs, ok
}

// closeLast ends the last document, which reaches to the end of src so far,
// at offset end.
func closeLast(docs []document, src []byte, end int) []document {
	if n := len(docs); n > 0 {
		last := &docs[n-1]
		last.text = last.text[:len(last.text)-(len(src)-end)]
	}
	return docs
}

// decodeItems reads a list of another form, such as JSON, whole. Its evidence
// names the file alone.
func decodeItems(file string, src []byte) ([]document, error) {
	var l struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := sigsyaml.Unmarshal(src, &l); err != nil {
		return nil, err
	}
	if l.Items == nil {
		return nil, errors.New("a list without items")
	}
	docs := make([]document, 0, len(l.Items))
	for _, item := range l.Items {
		docs = append(docs, document{file: file, line: 1, text: item})
	}
	return docs, nil
}
