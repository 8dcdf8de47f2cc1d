package payload

import (
	"slices"
	"testing"
)

func TestParents(t *testing.T) {
	for p, want := range map[string][]string{"a": nil, "a/b": {"a"}, "a/b/c": {"a", "a/b"}} {
		if got := parents(p); !slices.Equal(got, want) {
			t.Errorf("parents(%q) = %q, want %q", p, got, want)
		}
	}
}
