// Package docs runs every command that the documents show: make e2e does, since some
// compile for minutes. It has no code of its own.
package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
	"github.com/winbake/winbake/test/support/jq"
)

const top = "../.."

// link is one within the repository: a file, a heading, or both.
var link = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^):]+))?\)`)

// TestDocsLinks: each link leads to a file that is there, and to a heading of it.
func TestDocsLinks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(top, "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	fragments := 0
	for _, f := range append(files, more...) {
		for _, m := range link.FindAllStringSubmatch(read(t, f), -1) {
			to := f
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(f), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: link to %s: no such file", f, m[1])
				continue
			}
			if m[2] != "" && !slices.Contains(headings(read(t, to)), m[2]) {
				t.Errorf("%s: link to %s#%s: no such heading", f, m[1], m[2])
			}
			if m[2] != "" {
				fragments++
			}
		}
	}
	if fragments == 0 {
		t.Error("no link to a heading was found")
	}
}

// headings are a page's, as GitHub makes fragments of them: lower case, hyphens for
// blanks, and nothing of other punctuation.
func headings(page string) (all []string) {
	for line := range strings.Lines(page) {
		text := strings.TrimLeft(line, "#")
		if text == line || !strings.HasPrefix(text, " ") {
			continue
		}
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(text)))
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMain: started as bake, verify or jq, this program is that command. Documents use
// jq, which a machine with Go and git alone doesn't have.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "bake":
		os.Exit(app.Main(bake.New))
	case "verify":
		os.Exit(app.Main(verify.New))
	case "jq":
		jq.Main()
	}
	os.Exit(m.Run())
}

// commands is a folder with this program under the names of TestMain.
func commands(t *testing.T) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"bake", "verify", "jq"} {
		if err := os.Symlink(own, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, command string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
