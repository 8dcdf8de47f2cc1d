package docs

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
)

// TestHelpFits: lines of help have at most 80 columns. A command isn't wrapped, so that
// it can be copied.
func TestHelpFits(t *testing.T) {
	seen := 0
	for _, build := range []func(*app.App) *cobra.Command{bake.New, verify.New} {
		var fits func(names ...string)
		fits = func(names ...string) {
			var out bytes.Buffer
			a := &app.App{Stdout: &out, Stderr: &out}
			root := build(a)
			if code := a.Run(t.Context(), root, append(names, "--help")); code != 0 {
				t.Fatalf("%s %q: exit code %d\n%s", root.Name(), names, code, &out)
			}
			seen++
			cmd, _, err := root.Find(names)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 && !strings.HasPrefix(line, "  "+root.Name()+" ") && !strings.Contains(line, " | oc ") && !strings.HasPrefix(line, "  cosign ") && !strings.HasPrefix(line, "  oc ") {
					t.Errorf("%s: %s", cmd.CommandPath(), line)
				}
			}
			for _, sub := range cmd.Commands() {
				if !sub.Hidden && sub.Name() != "completion" && sub.Name() != "help" { // cobra's own, and there when it runs alone
					fits(append(names[:len(names):len(names)], sub.Name())...)
				}
			}
		}
		fits()
	}
	if seen < 30 {
		t.Errorf("%d commands have help", seen)
	}
}

// TestEveryCommandHasHelp: a text file with another name than the command's would
// leave it without a word. Each has an example.
func TestEveryCommandHasHelp(t *testing.T) {
	for _, build := range []func(*app.App) *cobra.Command{bake.New, verify.New} {
		var told func(cmd *cobra.Command)
		told = func(cmd *cobra.Command) {
			if cmd.Short == "" {
				t.Errorf("%s has no help", cmd.CommandPath())
			}
			if cmd.Example == "" {
				t.Errorf("%s has no example", cmd.CommandPath())
			}
			for _, sub := range cmd.Commands() {
				told(sub)
			}
		}
		told(build(&app.App{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}))
	}
}
