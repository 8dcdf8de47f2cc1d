package manifests

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/winbake/winbake/internal/cluster/inventory/kube"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
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

func (d *document) locator(root *yaml.Node) kube.Locator {
	return func(path ...any) string { return fmt.Sprintf("%s:%d", d.file, d.line+yamlnode.Line(root, path...)) }
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

// chunk is the text of one document and the line, from 1, that it starts at.
type chunk struct {
	line int
	text []byte
}

// chunks cuts a file at its document markers, as kubectl does: a line that
// starts with --- or ... ends a document wherever it is, so what is broken in one
// document doesn't hide the next. It returns only those with something in them.
func chunks(src []byte, yield func(chunk) bool) {
	start, startLine, line := 0, 1, 0
	content, directive := false, false
	for offset := 0; offset < len(src); {
		end := len(src)
		if i := bytes.IndexByte(src[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		text := src[offset:end]
		line++
		begins, ends := isMarker(text, "---"), isMarker(text, "...")
		if begins || ends {
			if content && !yield(chunk{startLine, src[start:offset]}) {
				return
			}
			switch {
			case ends:
				start, startLine = end, line+1
			case content || !directive: // a directive belongs to what it is above
				start, startLine = offset, line
			}
			text, content, directive = text[3:], false, false
		}
		switch text = bytes.TrimLeft(text, " \t\r\n"); {
		case len(text) == 0 || text[0] == '#' || ends:
		case text[0] == '%' && !content:
			directive = true
		default:
			content = true
		}
		offset = end
	}
	if content {
		yield(chunk{startLine, src[start:]})
	}
}

// isMarker tells whether a line is a marker, with or without something behind
// it.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

var errBinary = errors.New("it is binary, not YAML or JSON")

// decodeText makes UTF-8 of a file. PowerShell writes UTF-16 with a byte order
// mark when it redirects kubectl's output.
func decodeText(src []byte) ([]byte, error) {
	if len(src) > 0 && src[0] >= 0xef { // a mark begins so
		var err error
		if src, _, err = transform.Bytes(unicode.BOMOverride(transform.Nop), src); err != nil {
			return nil, err
		}
	}
	if bytes.IndexByte(src, 0) >= 0 {
		return nil, errBinary
	}
	return src, nil
}
