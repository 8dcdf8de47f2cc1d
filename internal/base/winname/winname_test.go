package winname

import "testing"

func TestCheck(t *testing.T) {
	for _, p := range []string{"a.exe", "a b/c d.ps1", "ä/ö.txt", ".hidden", "console.exe", "com0", "com0.exe", "com10", "a.nul"} {
		if wrong := Check(p); wrong != "" {
			t.Errorf("%q: %s", p, wrong)
		}
	}
	for _, p := range []string{"nul", "NUL.exe", "x/aux.tar.gz", "con/x", "Lpt9.txt", "COM¹", "lpt³.log", "a.", "a ", "a?b", `a\b`, "a:b", "a\x00b", "prn"} {
		if Check(p) == "" {
			t.Errorf("%q passes", p)
		}
	}
}
