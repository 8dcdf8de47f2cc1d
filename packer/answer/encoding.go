package answer

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// errEncoding is of an encoding that can't be read here. Windows knows more.
var errEncoding = errors.New("the encoding can't be read here")

// Text is a file without the mark in front, out of UTF-16 in UTF-8.
func Text(data []byte) ([]byte, error) {
	text, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), data)
	return text, err
}

// inCharset reads XML that is declared in an encoding; UTF-16 is decoded by now.
func inCharset(name string, r io.Reader) (io.Reader, error) {
	from, err := htmlindex.Get(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", errEncoding, name)
	}
	if is, err := htmlindex.Name(from); err == nil && (is == "utf-16le" || is == "utf-16be") {
		return r, nil
	}
	return from.NewDecoder().Reader(r), nil
}
