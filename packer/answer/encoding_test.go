package answer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// inUTF16 is a text as Notepad saves it as Unicode.
func inUTF16(text, mark string, low, high int) []byte {
	data := []byte(mark)
	for _, u := range utf16.Encode([]rune(text)) {
		pair := [2]byte{}
		pair[low], pair[high] = byte(u), byte(u>>8)
		data = append(data, pair[:]...)
	}
	return data
}

// TestEncodings: whatever encoding Windows reads a file in, it is looked at.
func TestEncodings(t *testing.T) {
	utf8 := strings.Replace(generalized(t), "${password}", "Pä55", 1)
	as := func(name string) string { return strings.Replace(utf8, `encoding="UTF-8"`, `encoding="`+name+`"`, 1) }
	latin := func(name string) []byte { return []byte(strings.ReplaceAll(as(name), "ä", "\xe4")) }
	for name, data := range map[string][]byte{
		"UTF-8":                     []byte(utf8),
		"UTF-8 with a mark":         []byte("\xef\xbb\xbf" + utf8),
		"UTF-16":                    inUTF16(as("utf-16"), "\xff\xfe", 0, 1),
		"UTF-16, big end first":     inUTF16(as("UTF-16"), "\xfe\xff", 1, 0),
		"UTF-16, undeclared":        inUTF16(strings.Replace(utf8, ` encoding="UTF-8"`, "", 1), "\xff\xfe", 0, 1),
		"Latin 1":                   latin("iso-8859-1"),
		"Windows' own":              latin("Windows-1252"),
		"another of Windows' pages": latin("windows-1250"),
		"one of Japan's":            []byte(strings.ReplaceAll(as("Shift_JIS"), "ä", "\x83\x41")),
	} {
		t.Run(name, func(t *testing.T) {
			found := Check(data, true)
			if len(found) != 1 || found[0].Kind != KindPassword || found[0].Line != Check([]byte(utf8), true)[0].Line {
				t.Errorf("have %+v", found)
			}
		})
	}
}

func TestEncodingsRefused(t *testing.T) {
	text := generalized(t)
	as := func(name string) string { return strings.Replace(text, `encoding="UTF-8"`, `encoding="`+name+`"`, 1) }
	for name, c := range map[string]struct {
		data []byte
		kind Kind
		want string
	}{
		"not known here":             {[]byte(as("x-ebcdic")), KindEncoding, "can't be read here"},
		"UTF-8 that isn't":           {[]byte(strings.Replace(text, "${password}", "P\xe4", 1)), KindXML, "invalid UTF-8"},
		"not even XML in Windows'":   {[]byte(as("windows-1252")[:200]), KindXML, "EOF"},
		"another encoding's own XML": {[]byte(strings.Replace(as("windows-1252"), "</unattend>", "", 1)), KindXML, "EOF"},
	} {
		found := Check(c.data, true)
		if !slices.ContainsFunc(found, func(p Problem) bool { return p.Kind == c.kind && strings.Contains(p.What, c.want) }) {
			t.Errorf("%s: want %s %q, have %+v", name, c.kind, c.want, found)
		}
	}
}
