package rules

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTextsAreTemplates parses every text of every rule's findings, which a program does
// when it first writes one.
func TestTextsAreTemplates(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range textsOf(string(text)).Findings {
			for _, text := range f.templates() {
				templateOf(*text)
				n++
			}
		}
	}
	if n < 350 {
		t.Errorf("only %d texts were found", n)
	}
}
