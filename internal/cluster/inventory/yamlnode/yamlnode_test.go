package yamlnode

import (
	"fmt"
	"testing"
)

func TestItems(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\nitems:\n- x: 1\n  y: 2\n- z: 3\nkind: List\n": `"a: b\nkind: List\n" 3:"  x: 1\n  y: 2\n" 5:"  z: 3\n"`,
		"items:\n  - x: 1\n  # c\n\n  -\n    z: 3\n":         `"" 2:"    x: 1\n  # c\n\n" 5:"   \n    z: 3\n"`,
		"items:\n- x: |\n    - not one\n- y\n":               `"" 2:"  x: |\n    - not one\n" 4:"  y\n"`,
		"items: []\n":                                        "none",
		"items: [{a: b}]\n":                                  "none",
		"data:\n  items:\n  - a\n":                           "none",
		"items:\na: b\n":                                     "none",
	} {
		rest, items, ok := Items([]byte(text))
		got := "none"
		if ok {
			got = fmt.Sprintf("%q", rest)
			for _, c := range items {
				got += fmt.Sprintf(" %d:%q", c.Line, c.Text)
			}
		}
		if got != want {
			t.Errorf("%q:\n%s, want\n%s", text, got, want)
		}
	}
}
