package bake

import (
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/packer/template"
)

// platformRow is one platform as `bake template list` shows it.
type platformRow struct {
	Platform string `json:"platform"`
	Title    string `json:"title"`
	Plugin   string `json:"plugin"`
	Versions string `json:"versions"`
	Tested   string `json:"tested"`
}

func newTemplateList(t *tool) *cobra.Command {
	output := app.NewOutput("PlatformList", []platformRow{})
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show the platforms, and what each was tested on",
		Example: "  bake template list\n  bake template list -o json",
		Args:    app.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			var rows []platformRow
			for _, p := range template.Platforms() {
				rows = append(rows, platformRow{p.Name, p.Title, p.Plugin.Source, p.Plugin.Constraint, p.Tested})
			}
			return output.Write(t.Stdout, rows, func() [][]string {
				table := [][]string{{"PLATFORM", "WHAT", "PLUGIN", "VERSIONS", "TESTED"}}
				for _, r := range rows {
					table = append(table, []string{r.Platform, r.Title, r.Plugin, r.Versions, r.Tested})
				}
				return table
			})
		},
	}
	output.Register(cmd)
	return cmd
}
