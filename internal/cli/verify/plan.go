package verify

import (
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/report/skewreport"
	"github.com/winbake/winbake/internal/skew"
)

func newPlan(t *tool) *cobra.Command {
	var o skewOptions
	output := app.Output{Kinds: map[string]any{"UpdatePlan": []skew.Step{}}, Formats: []string{"markdown", "script", "json"}}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "List what to do before, during and after each update on the way",
		Long: `plan writes the steps of an update as a Markdown checklist for a change request:
for each hop to --to, what to do before, during and after it, with the commands
and the way back. Without --to it is what to fix now. -o script is a bash script
that does the steps in order, asks before each, and can be run again.
It judges as verify skew does and says the verdict first, but it is a document
and no check: it exits 0 also where the verdict is BLOCK.`,
		Example: `  verify skew plan --to 4.20 > change-request.md
  verify skew plan --to 4.20 -o script > update.sh
  verify skew plan --to 4.20 --eus > control-plane-only.md
  verify skew plan --from 4.14 --to 4.20 --manifests cluster/
  verify skew plan --to 4.20 --must-gather must-gather.tar.gz -o json`,
		Args: noPaths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := t.answer(cmd, o)
			if err != nil {
				return err
			}
			switch output.String() {
			case "markdown":
				return skewreport.Plan(t.Stdout, r)
			case "script":
				return skewreport.Script(t.Stdout, r)
			}
			return output.JSON(t.Stdout, r.Result.Steps)
		},
	}
	o.register(cmd)
	output.Register(cmd)
	return cmd
}
