package manifests

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestDocuments(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n":                            `1:"a: b\n"`,
		"a: b\n---\nc: d\n":                 `1:"a: b\n" 2:"---\nc: d\n"`,
		"a: b\r\n---\r\nc: d":               `1:"a: b\r\n" 2:"---\r\nc: d"`,
		"# x\n\n---\n---\n# y\nc: d\n":      `4:"---\n# y\nc: d\n"`,
		"%YAML 1.1\n---\na: b\n":            `2:"---\na: b\n"`,
		"a: b\n...\n%TAG ! x\n---\nc: d":    `1:"a: b\n" 4:"---\nc: d"`,
		"a: b\n...\nc: d\n":                 `1:"a: b\n" 3:"c: d\n"`,
		"--- {a: b}\n--- # c\n----\n---d\n": `1:"--- {a: b}\n" 2:"--- # c\n----\n---d\n"`,
		"":                                  "",
		"---\n---\n":                        "",
	} {
		var got []string
		for _, d := range documents("f", []byte(text)) {
			got = append(got, fmt.Sprintf("%d:%q", d.line, d.text))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q:\n%s, want\n%s", text, s, want)
		}
	}
}

// Nothing but blank lines, comments and markers may be lost between chunks.
func FuzzDocuments(f *testing.F) {
	for _, s := range []string{"a: b\n---\nc: d", "%YAML 1.1\n---\n", "...\n---\n...", "# a\n--- b\n", "items:\n- a\n- b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		at := 0
		for _, c := range documents("f", src) {
			start := cap(src) - cap(c.text) // the text is a part of src
			if start < at {
				t.Fatalf("%q begins before the one before it ends", c.text)
			}
			lost(t, src[at:start])
			if line := 1 + bytes.Count(src[:start], []byte("\n")); line != c.line {
				t.Fatalf("%q is at line %d, said %d", c.text, line, c.line)
			}
			at = start + len(c.text)
		}
		lost(t, src[at:])
	})
}

// lost checks that there is nothing to read in what was left out.
func lost(t *testing.T, src []byte) {
	for line := range bytes.Lines(src) {
		text := bytes.TrimSpace(line)
		if isMarker(line, "...") || isMarker(line, "---") {
			text = bytes.TrimLeft(text, "-. \t")
		}
		if len(text) > 0 && text[0] != '#' && text[0] != '%' {
			t.Fatalf("%q is lost", line)
		}
	}
}
