//go:build e2e

package docs

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// elsewhere are commands that another suite runs, since they take minutes or
// are what runs this test.
var elsewhere = map[string]string{
	"make payload": "test/e2e",
	"make test":    "runs all that isn't in make e2e",
	"make lab":     "packer/plugin/e2e, as all that begins with bin/lab",

	"go run -C hack/catalog . make -fetch -clones ~/clones": "hack/catalog, with repositories of its own",

	"bin/bake outdated csi-proxy": "test/script, with a module proxy of its own: another may refuse the list",
}

// block is one ```console block: commands with what they print.
type block struct {
	file     string
	line     int
	commands []command
}

type command struct {
	text string
	want []string // lines; ... means anything
}

func blocks(t *testing.T, file string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(top, file))
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	inside := false
	n := 0
	for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
		n++
		line := sc.Text()
		switch {
		case line == "```console":
			inside = true
			all = append(all, block{file: file, line: n})
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			b := &all[len(all)-1]
			if text, ok := strings.CutPrefix(line, "$ "); ok {
				text, _, _ = strings.Cut(text, "   #")
				b.commands = append(b.commands, command{text: strings.TrimSpace(text)})
			} else if len(b.commands) > 0 {
				c := &b.commands[len(b.commands)-1]
				c.want = append(c.want, line)
			}
		}
	}
	return all
}

func TestDocsCommandsRun(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"README.md"}
	for _, f := range files {
		names = append(names, "docs/"+filepath.Base(f))
	}
	t.Setenv("PATH", commands(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out, err := run(t, "make bin && mkdir -p _output && rm -rf _output/docs-*"); err != nil {
		t.Fatalf("make bin: %v\n%s", err, out)
	}
	ran := 0
	for _, name := range names {
		for _, b := range blocks(t, name) {
			for _, c := range b.commands {
				if elsewhere[c.text] != "" || strings.HasPrefix(c.text, "bin/lab ") {
					continue
				}
				ran++
				out, err := run(t, c.text)
				if err != nil {
					t.Errorf("%s:%d: %s: %v\n%s", b.file, b.line, c.text, err, out)
					continue
				}
				compare(t, b, c, out)
			}
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands were found: is a fence misspelt?", ran)
	}
}

// compare checks that each line a document shows is printed, with columns of
// any width and ... for anything.
func compare(t *testing.T, b block, c command, out string) {
	t.Helper()
	folded := regexp.MustCompile(` +`).ReplaceAllString(out, " ")
	for _, want := range c.want {
		if want == "" || want == "..." {
			continue
		}
		pattern := regexp.QuoteMeta(regexp.MustCompile(` +`).ReplaceAllString(strings.TrimSpace(want), " "))
		pattern = strings.ReplaceAll(pattern, `\.\.\.`, `.*`)
		if !regexp.MustCompile(pattern).MatchString(folded) {
			t.Errorf("%s:%d: %s doesn't print %q, but\n%s", b.file, b.line, c.text, want, out)
		}
	}
}
