package bake

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/pins"
)

func newDiff(t *tool) *cobra.Command {
	output := app.NewOutput("PinChangeList", []pins.Change{})
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what a change of pins changes in what is built",
		Long: `diff compares two versions.yaml and their locks: pins, toolchains, GODEBUG,
flags, each module that a program links, and csi-proxy's API groups that it serves
or calls. Nothing is fetched or built.`,
		Example: "  git worktree add before main\n  bake diff before/versions.yaml versions.yaml",
		Args:    app.Args(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			var files [2]*pins.File
			var locks [2]*pins.Lock
			for i, name := range args {
				var err error
				if files[i], err = pins.Load(name); err != nil {
					return err
				}
				if locks[i], err = pins.LoadLock(files[i]); err != nil {
					return err
				}
			}
			changes := pins.Diff(files[0], files[1], locks[0], locks[1])
			return output.Write(t.Stdout, changes, func() [][]string {
				if len(changes) == 0 {
					return [][]string{{"nothing that is built differs"}}
				}
				table := [][]string{{"COMPONENT", "WHAT", "OLD", "NEW"}}
				for _, c := range changes {
					table = append(table, []string{c.Component, c.What, cmp.Or(c.Old, "-"), cmp.Or(c.New, "-")})
				}
				return table
			})
		},
	}
	output.Register(cmd)
	return cmd
}
