package verify

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/report/skewreport"
)

func newPlan(t *tool) *cobra.Command {
	var o skewOptions
	var format string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "List what to do before, during and after each update on the way",
		Long: `plan writes the steps of an update as a Markdown checklist for a change request:
for each hop to --to, what to do before, during and after it, with the commands.
It judges as verify skew does and says the verdict first, but it is a document
and no check: it exits 0 also where the verdict is BLOCK.`,
		Example: `  verify skew plan --to 4.20 > change-request.md
  verify skew plan --from 4.14 --to 4.20 --manifests cluster/
  verify skew plan --to 4.20 --must-gather must-gather.tar.gz -o json`,
		Args: noPaths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.to == "" {
				return &fault.Error{What: "a plan needs --to, the release to update to", Fix: "--to 4.20"}
			}
			r, err := t.answer(cmd, o)
			if err != nil {
				return err
			}
			if format == "markdown" {
				return skewreport.Plan(t.Stdout, r)
			}
			enc := json.NewEncoder(t.Stdout)
			enc.SetIndent("", "  ")
			return enc.Encode(r.Result.Steps)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "markdown", "markdown or json")
	app.Choices(cmd, "output", "markdown", "json")
	return cmd
}
