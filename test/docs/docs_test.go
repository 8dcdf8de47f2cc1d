// Package docs runs every command that the documents show. It has no code of
// its own.
package docs

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/support/jq"
)

const top = "../.."

// elsewhere are commands that another suite runs, since they take minutes or
// are what runs this test.
var elsewhere = map[string]string{
	"make payload": "test/e2e",
	"make test":    "runs this test",
	"make lab":     "packer/plugin/e2e, as all that begins with bin/lab",

	"go run -C hack/catalog . make -clones ~/clones": "hack/catalog, with repositories of its own",

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
	want []string // lines; ... stands for anything
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

// TestMain: documents use jq, which a machine with Go and git alone doesn't have.
// Started under its name, this program is gojq.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "jq" {
		jq.Main()
	}
	os.Exit(m.Run())
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
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	if err := os.Symlink(own, filepath.Join(tools, "jq")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
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

func run(t *testing.T, command string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var link = regexp.MustCompile(`\]\(([^)#:]+)\)`)

func TestDocsLinks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(top, "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, more...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(f), m[1])); err != nil {
				t.Errorf("%s: link to %s: no such file", f, m[1])
			}
		}
	}
}
