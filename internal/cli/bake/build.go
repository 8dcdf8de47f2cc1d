package bake

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/compile"
)

func newBuild(t *tool) *cobra.Command {
	var o buildOptions
	output := app.NewOutput("ArtifactList", []builtRow{})
	cmd := &cobra.Command{
		Use:   "build [component...]",
		Short: "Build components into the cache, and print where they are",
		Long: `build compiles the named components, or all, and prints each artifact's
digest, size and path in the cache. What was built before isn't built again.`,
		Example:           "  bake build csi-proxy\n  cp $(bake build csi-proxy -o json | jq -r '.items[0].path') csi-proxy.exe",
		ValidArgsFunction: t.fromPins(componentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := t.build(cmd.Context(), args, o)
			if len(rows) > 0 {
				if werr := output.Write(t.Stdout, rows, func() [][]string { return buildTable(rows) }); werr != nil {
					return werr
				}
			}
			return err
		},
	}
	o.register(cmd)
	output.Register(cmd)
	return cmd
}

// builtRow is one artifact and where it lies.
type builtRow struct {
	*compile.Artifact
	Path string `json:"path"`
}

func (t *tool) build(ctx context.Context, names []string, o buildOptions) ([]builtRow, error) {
	_, jobs, err := t.jobs(names)
	if err != nil {
		return nil, err
	}
	store, err := t.store()
	if err != nil {
		return nil, err
	}
	b, err := t.builder(ctx, store, o)
	if err != nil {
		return nil, err
	}
	artifacts, err := b.BuildSound(ctx, jobs)
	var rows []builtRow
	for _, a := range artifacts {
		if a != nil {
			rows = append(rows, builtRow{a, store.Path(a.Digest)})
		}
	}
	return rows, err
}

func buildTable(rows []builtRow) [][]string {
	table := [][]string{{"COMPONENT", "SIZE", "DIGEST", "PATH"}}
	for _, r := range rows {
		table = append(table, []string{r.Component, megabytes(r.Size), r.Digest, r.Path})
	}
	return table
}

// megabytes prints a size in MB (10^6 bytes), as registries count.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func sourceDateEpoch() string { return os.Getenv("SOURCE_DATE_EPOCH") }
