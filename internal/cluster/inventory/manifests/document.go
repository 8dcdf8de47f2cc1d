package manifests

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// document is a part of a file: what is between two markers, or an item of a List.
type document struct {
	file string
	line int // where it starts in the file, from 1
	text []byte
}

// at is file:line of a line of the document's own, from 1.
func (d *document) at(line int) string { return fmt.Sprintf("%s:%d", d.file, d.line+max(line, 1)-1) }

// documents cuts a file at its markers, so that what is broken in one document
// doesn't hide the next. Directives become comments: all versions of YAML are read
// alike.
func documents(file string, src []byte) []document {
	var all []document
	start, startLine, line, offset, content := 0, 1, 0, 0, false
	for text := range bytes.Lines(src) {
		line++
		body, end := bytes.TrimSpace(text), isMarker(text, "...")
		if end || isMarker(text, "---") {
			if content {
				all = append(all, document{file, startLine, src[start:offset]})
			}
			start, startLine, content = offset, line, false
			body = bytes.TrimSpace(text[3:])
		}
		if end {
			start, startLine = offset+len(text), line+1
		}
		if text[0] == '%' {
			text[0] = '#'
		}
		content = content || len(body) > 0 && body[0] != '#' && body[0] != '%' && !end
		offset += len(text)
	}
	if content {
		all = append(all, document{file, startLine, src[start:]})
	}
	return all
}

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
