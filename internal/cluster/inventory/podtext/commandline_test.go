package podtext

import (
	"slices"
	"testing"
)

func TestSplitLine(t *testing.T) {
	for line, want := range map[string][]string{
		`a --b=c  d`:                   {"a", "--b=c", "d"},
		`& .\a.exe --b='c d'; exit`:    {`.\a.exe`, "--b=c d", "exit"},
		`a "--b=C:\Program Files\x" c`: {"a", `--b=C:\Program Files\x`, "c"},
		"a \\\n  --b\n":                {"a", `\`, "--b"},
		`a && b || c | d`:              {"a", "b", "c", "d"},
		`a ""`:                         {"a", ""},
		`a "b`:                         {"a", "b"},
		"":                             nil,
	} {
		if got := splitLine(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "x", "B": "$(A)", "_C.d-e": "y"}
	for text, want := range map[string]string{
		"$(A)/$(B)": "x/$(A)", "$$(A)": "$(A)", "$(NONE)": "$(NONE)", "$(_C.d-e)": "y", "$(": "$(", "$()": "$()", "plain": "plain",
	} {
		if got := Expand(text, env); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"$env:A": "x", "${env:A}": "x", "%A%": "x", "$A": "x", "${A}/b": "x/b", "$NONE": "$NONE", "100%": "100%", "$ENV:A": "x",
	} {
		if got := expandShell(text, env); got != want {
			t.Errorf("shell %q: %q, want %q", text, got, want)
		}
	}
}

func TestFlag(t *testing.T) {
	for line, want := range map[string]string{
		"--f=v": "v", "-f=v": "v", "--f v": "v", "--f": "", "--f --g": "", "--ff=v": "none", "f=v": "none", "--f=": "", "--f=a --f=b": "a", "--f=a=b": "a=b",
	} {
		var words []Word
		for _, w := range splitLine(line) {
			words = append(words, Word{Text: w})
		}
		got := "none"
		if w, ok := Flag(words, "f"); ok {
			got = w.Text
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
