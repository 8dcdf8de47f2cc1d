package strictyaml

import (
	"runtime"
	"strings"
	"testing"
)

// The parser stops by itself where something is nested deep, and takes little memory.
func TestDeepCostsNoMemory(t *testing.T) {
	const size = 200_000
	for _, unit := range []string{"[", "{", "- ", "? ", "[a: ", "a: [", "{a: ", "&a [", "!t [", "{? ", "- [", "- a: [", "? - ", "&a - ", "&a ", "!t ", "&a\n", "!t\n", "*a ", ": ", "--- [", "'", "|\n"} {
		src := []byte(strings.Repeat(unit, size/len(unit)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Parse("a.yaml", src, Options{})
		if err == nil {
			d.Decode(new(struct {
				A []string `json:"a"`
			}))
		}
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 50 {
			t.Errorf("%q: %d MB, %v", unit, used, err)
		}
	}
}

// Each mistake shows its line, which may hold many.
func TestManyMistakesCostNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	d, err := Parse("a.yaml", []byte("a: ["+strings.Repeat("1, ", 5000)+"]"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&before)
	d.Decode(new(struct {
		A []string `json:"a"`
	}))
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 50 || len(d.Faults) == 0 {
		t.Errorf("%d MB for %d mistakes", used, len(d.Faults))
	}
}

// All of a mistake as a person reads it: tabs keep the caret in its place, a long line is
// cut, and a hidden part stays hidden.
func TestExcerpt(t *testing.T) {
	mask := Options{Mask: func(s string) string { return strings.ReplaceAll(s, "secret", "******") }}
	for text, want := range map[string]string{
		"a: [secret,\t1]\n":                          "a.yaml:1:13: YAML reads 1 as a whole number, not as a string\n    1 | a: [******,\t1]\n      |            \t^\nfix: quote it: \"1\"",
		"a: é\nb: " + strings.Repeat("x", 2*longest): "a.yaml:1:4: must be a list of strings\n    1 | a: é\n      |    ^\nfix: start each item with a dash\na.yaml:2:1: unknown key \"b\"\n    2 | b: " + strings.Repeat("x", longest-3) + "...\n      | ^\nfix: known keys: a",
		"a: [b\nc: d]\n]\n":                          "a.yaml:2:1: it isn't YAML: did not find expected ',' or ']'",
	} {
		d, err := Parse("a.yaml", []byte(text), mask)
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			d.Decode(new(struct {
				A []string `json:"a"`
			}))
			for _, f := range d.Faults {
				said += f.Error() + "\n"
			}
		}
		if !strings.HasPrefix(said, want) {
			t.Errorf("%q:\n%s\nwant\n%s", text, said, want)
		}
	}
}
