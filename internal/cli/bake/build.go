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

// listRow is one component as `bake list` shows it.
type listRow struct {
	Component string `json:"component"`
	Source    string `json:"source"`
	Version   string `json:"version"`
	Payload   string `json:"payload"`
	Install   string `json:"install,omitempty"`
	// State is cached (its artifact is in the store), to build, or stale
	// lock; Size is the artifact's bytes where it is known.
	State  string `json:"state"`
	Size   int64  `json:"size,omitempty"`
	Digest string `json:"digest,omitempty"`
}

func newList(t *tool) *cobra.Command {
	output := app.NewOutput("ComponentList", []listRow{})
	cmd := &cobra.Command{
		Use:               "list [component...]",
		Short:             "Show the components, their pins, and what is built",
		Example:           "  bake list\n  bake list -f examples/openshift-4.15/versions.yaml -o json",
		ValidArgsFunction: t.fromPins(componentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := t.list(cmd.Context(), args)
			if err != nil {
				return err
			}
			return output.Write(t.Stdout, rows, func() [][]string { return listTable(rows) })
		},
	}
	output.Register(cmd)
	return cmd
}

func (t *tool) list(ctx context.Context, names []string) ([]listRow, error) {
	_, components, err := t.selected(names)
	if err != nil {
		return nil, err
	}
	var rows []listRow
	for _, c := range components {
		row := listRow{Component: c.Name, Source: c.Source(), Version: c.Pinned(), Payload: c.Payload, Install: c.Install, State: "stale lock"}
		if err := t.state(ctx, c.Name, &row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// state fills in what the cache knows. A stale lock is a state here and not
// an error: whoever lists wants to see it.
func (t *tool) state(ctx context.Context, name string, row *listRow) error {
	_, jobs, err := t.jobs([]string{name})
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	store, err := t.store()
	if err != nil {
		return err
	}
	b, err := t.builder(ctx, store, buildOptions{})
	if err != nil {
		return err
	}
	row.State = "to build"
	if a, err := b.Lookup(ctx, jobs[0]); err == nil && a != nil {
		row.State, row.Size, row.Digest = "cached", a.Size, a.Digest
	}
	return ctx.Err()
}

func listTable(rows []listRow) [][]string {
	table := [][]string{{"COMPONENT", "SOURCE", "VERSION", "PAYLOAD", "SIZE", "STATE"}}
	for _, r := range rows {
		size := "-"
		if r.Size > 0 {
			size = megabytes(r.Size)
		}
		table = append(table, []string{r.Component, r.Source, r.Version, r.Payload, size, r.State})
	}
	return table
}
