package rules

import "testing"

// TestTextsAreTemplates parses every text of findings.yaml, which a program does when
// it first writes one.
func TestTextsAreTemplates(t *testing.T) {
	n := 0
	for _, cases := range written() {
		for _, f := range cases {
			for _, text := range f.texts() {
				templateOf(*text)
				n++
			}
		}
	}
	if n < 350 {
		t.Errorf("only %d texts were found", n)
	}
}
