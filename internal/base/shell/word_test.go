package shell

import "testing"

func TestWord(t *testing.T) {
	for s, want := range map[string]string{
		"a/b-c_1.yaml": "a/b-c_1.yaml", "x@sha256:0,1+2=3%": "x@sha256:0,1+2=3%", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "~x": "'~x'", "a\nb": "'a\nb'",
	} {
		if got := Word(s); got != want {
			t.Errorf("%q became %s, want %s", s, got, want)
		}
	}
}
