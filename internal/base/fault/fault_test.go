package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorText(t *testing.T) {
	e := &Error{Where: "a.yaml:1:2", What: "wrong", Excerpt: "1 | x\n  | ^\n", Fix: "bake lock"}
	if want := "a.yaml:1:2: wrong\n1 | x\n  | ^\nfix: bake lock"; e.Error() != want {
		t.Errorf("%q, want %q", e.Error(), want)
	}
}

func TestExitCode(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[int]error{0: nil, 1: &Error{What: "x"}, 3: fmt.Errorf("outer: %w", &Error{What: "x", Code: 3, Err: cause})} {
		if got := ExitCode(err); got != want {
			t.Errorf("ExitCode(%v) = %d, want %d", err, got, want)
		}
	}
	if !errors.Is(&Error{Err: cause}, cause) {
		t.Error("the cause is lost")
	}
}

// TestNearest: a slip is near, and another word of the same length isn't.
func TestNearest(t *testing.T) {
	names := []string{"go", "base", "components"}
	for word, want := range map[string]string{"component": "components", "bsae": "base", "og": "", "g": "", "x": "", "gp": "go", "gos": "go", "": ""} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
