package inventory

import (
	"strings"
	"testing"
)

func TestMany(t *testing.T) {
	for n, want := range map[int]string{0: "0 namespaces", 1: "1 namespace", 2: "2 namespaces", 999: "999 namespaces", 1650: "1,650 namespaces", 1234567: "1,234,567 namespaces"} {
		if got := Many(n, "namespace"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSome(t *testing.T) {
	for names, want := range map[string]string{"a": "a", "a b c d e": "a, b, c, d, e", "a b c d e f g": "a, b, c, d, e and 2 more"} {
		if got := Some(strings.Fields(names)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
