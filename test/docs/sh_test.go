package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ranBy are the sh blocks that another suite runs, by file and first line.
// Those of walkthrough.md and csi-drivers.md are run by test/cluster/walkthrough,
// which reads all of their blocks.
var ranBy = map[string]string{
	"README.md: go install":                        "test/release/install",
	"README.md: bake manifests csi-driver vsphere": "test/release/install",
}

// ourCommand is a line that begins with bake or verify, or has one after a |.
var ourCommand = regexp.MustCompile(`(?m)^(?:\$ )?(?:.*\| *|  )?(?:bin/)?((?:bake|verify) [^|>#\n]*)`)

// TestShellBlocks: each block of shell commands is run by a test or says why it
// isn't, and its flags are there all the same.
func TestShellBlocks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(top, "README.md"), filepath.Join(top, "examples", "README.md"))
	bin := commands(t)
	// A block of a list is indented. Whatever looks like a fence has to be one.
	fence := regexp.MustCompile("(?ms)^ *```sh( not-run)?\n(.*?)\n *```$")
	alike := regexp.MustCompile("(?mi)^ *(```|~~~) *(ba|z)?sh(ell)?\\b")
	blocks := 0
	for _, file := range files {
		name, err := filepath.Rel(top, file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := fence.FindAllStringSubmatch(string(text), -1)
		if n := len(alike.FindAll(text, -1)); n != len(found) {
			t.Errorf("%s: %d fences of shell commands make %d blocks: is one misspelt?", name, n, len(found))
		}
		blocks += len(found)
		for _, m := range found {
			first, _, _ := strings.Cut(strings.TrimLeft(m[2], " "), "\n")
			elsewhere := name == "docs/walkthrough.md" || name == "docs/csi-drivers.md"
			for known := range ranBy {
				elsewhere = elsewhere || strings.HasPrefix(name+": "+first, known)
			}
			if m[1] == "" && !elsewhere {
				t.Errorf("%s: no test is known to run the block of %q: mark it `sh not-run`, and say why", name, first)
			}
			if m[1] != "" && !strings.HasPrefix(first, "# not run: ") {
				t.Errorf("%s: the block of %q doesn't begin with its reason, # not run: ", name, first)
			}
			for _, c := range ourCommand.FindAllStringSubmatch(m[2], -1) {
				flagsAreThere(t, bin, name, strings.TrimSuffix(strings.TrimSpace(c[1]), `\`))
			}
		}
	}
	if blocks == 0 {
		t.Error("no block was found")
	}
}

// flagsAreThere asks for a command's help with its flags before it: one that it
// doesn't have is an error.
func flagsAreThere(t *testing.T, bin, file, command string) {
	t.Helper()
	if strings.Contains(command, "$") || strings.Contains(command, "completion") {
		return
	}
	if out, err := run(t, bin+"/"+command+" --help"); err != nil {
		t.Errorf("%s: %s: %v\n%s", file, command, err, out)
	}
}
