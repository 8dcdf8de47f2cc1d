package docs

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
)

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
