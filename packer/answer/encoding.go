package answer

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// declared is the encoding that an XML declaration names.
var declared = regexp.MustCompile(`^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']`)

// Windows and its tools write UTF-16 with a mark in front; without one, the
// first < tells it as well (https://www.w3.org/TR/xml/#sec-guessing).
var utf16Begins = []struct {
	mark  string
	order unicode.Endianness
}{
	{"\xff\xfe", unicode.LittleEndian}, {"\xfe\xff", unicode.BigEndian},
	{"<\x00?\x00", unicode.LittleEndian}, {"\x00<\x00?", unicode.BigEndian},
}

// EncodingError is an encoding that can't be read here. Windows knows more.
type EncodingError struct{ Name string }

func (e *EncodingError) Error() string {
	return fmt.Sprintf("the encoding %q can't be read here", e.Name)
}

// Text is a file of Windows in UTF-8: out of UTF-16, and XML out of the encoding
// that it declares, which is UTF-8 then. Other files are returned as they are.
// The error is an *EncodingError, or says what XML is declared as and isn't.
func Text(data []byte) ([]byte, error) {
	for _, b := range utf16Begins {
		if bytes.HasPrefix(data, []byte(b.mark)) {
			return fromUTF16(data, b.order)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	as := declaration(data)
	switch name := plainName(as); {
	case name == "":
		return data, nil
	case name == "utf8" || name == "usascii":
		if !utf8.Valid(data) {
			return nil, fmt.Errorf("it is declared as %s, and isn't", as)
		}
		return data, nil
	case isUTF16(name):
		return nil, fmt.Errorf("it is declared as %s, and isn't", as)
	default:
		return fromPage(data, as)
	}
}

func fromUTF16(data []byte, order unicode.Endianness) ([]byte, error) {
	text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(data)
	if err != nil {
		return nil, fmt.Errorf("it begins as UTF-16, and isn't: %w", err)
	}
	if as := declaration(text); as != "" && !isUTF16(plainName(as)) {
		return nil, fmt.Errorf("it is UTF-16, and declared as %s", as)
	}
	return redeclared(text), nil
}

func isUTF16(plain string) bool {
	return strings.HasPrefix(plain, "utf16") || plain == "ucs2" || plain == "iso10646ucs2"
}

// declaration is the encoding that XML is declared in, "" for none.
func declaration(text []byte) string {
	if m := declared.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func redeclared(text []byte) []byte {
	if m := declared.FindSubmatchIndex(text); m != nil {
		return slices.Concat(text[:m[2]], []byte("utf-8"), text[m[3]:])
	}
	return text
}

// fromPage decodes a code page of one byte a character.
func fromPage(data []byte, as string) ([]byte, error) {
	for _, page := range charmap.All {
		if named, ok := page.(fmt.Stringer); !ok || plainName(named.String()) != plainName(as) {
			continue
		}
		text, err := page.NewDecoder().Bytes(data)
		if err != nil {
			return nil, fmt.Errorf("it is declared as %s, and isn't: %w", as, err)
		}
		return redeclared(text), nil
	}
	return nil, &EncodingError{as}
}

// plainName is an encoding's name without case and punctuation, in which
// ISO-8859-1 and "ISO 8859-1" differ.
func plainName(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}
