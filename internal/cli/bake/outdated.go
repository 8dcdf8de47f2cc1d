package bake

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/component"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/gotool"
	"github.com/winbake/winbake/internal/source"
	"github.com/winbake/winbake/internal/source/gomod"
)

// outdatedRow is what is known of one component's newer versions.
type outdatedRow struct {
	Component string `json:"component"`
	Current   string `json:"current"`
	Patch     string `json:"patch,omitempty"`  // newest of the same minor
	Latest    string `json:"latest,omitempty"` // newest of all
	// Unknown says why no list of versions could be had.
	Unknown string `json:"unknown,omitempty"`
	// failed: its source was asked and didn't answer.
	failed bool
}

func newOutdated(t *tool) *cobra.Command {
	output := app.NewOutput("NewerVersionList", []outdatedRow{})
	cmd := &cobra.Command{
		Use:   "outdated [component...]",
		Short: "Show newer versions of what is pinned",
		Long: `outdated asks the module proxy, or git for its tags, which newer versions
there are: the newest patch of the pinned minor, and the newest of all. With
branch: beside a commit, the branch's newest commit is the answer. Where
no list can be had it says so; that isn't "up to date". If a source couldn't be
asked, the exit code is 4.`,
		Example:           "  bake outdated\n  bake outdated csi-proxy -o json",
		ValidArgsFunction: t.fromPins(componentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := t.outdated(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := output.Write(t.Stdout, rows, func() [][]string { return outdatedTable(rows) }); err != nil {
				return err
			}
			return unasked(rows)
		},
	}
	output.Register(cmd)
	return cmd
}

func (t *tool) outdated(ctx context.Context, names []string) ([]outdatedRow, error) {
	file, components, err := t.selected(names)
	if err != nil {
		return nil, err
	}
	host, err := gotool.NewHost(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]outdatedRow, len(components))
	var g errgroup.Group
	g.SetLimit(4)
	for i, c := range components {
		g.Go(func() error {
			rows[i] = askOne(ctx, &source.Env{Host: host}, source.Pin{File: file, Component: c})
			return nil
		})
	}
	_ = g.Wait() // what can't be had is part of the answer
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return rows, nil
}

// unasked is exit code 4 where a source didn't answer: a script would take the
// table for the whole answer.
func unasked(rows []outdatedRow) error {
	if slices.ContainsFunc(rows, func(r outdatedRow) bool { return r.failed }) {
		return app.ExitCode(finding.ExitUnknown)
	}
	return nil
}

func askOne(ctx context.Context, env *source.Env, p source.Pin) outdatedRow {
	row := outdatedRow{Component: p.Name, Current: p.Pinned()}
	current, all, err := component.Of(p.Component).Versions(ctx, env, p)
	if none, ok := errors.AsType[source.NoVersions](err); ok {
		row.Unknown = none.Error()
		return row
	}
	if err != nil {
		row.Unknown, row.failed = "not to be had: "+fault.FirstLine(err), true
		return row
	}
	if p.Branch != "" {
		if head := all[len(all)-1]; head != current {
			row.Latest = head
		}
		return row
	}
	row.Current = current
	row.Patch, row.Latest = gomod.Newer(current, all)
	return row
}

// maxShown is what a version may take of a line; only a commit is longer.
const maxShown = 39

func outdatedTable(rows []outdatedRow) [][]string {
	table := [][]string{{"COMPONENT", "CURRENT", "PATCH", "LATEST", "NOTE"}}
	for _, r := range rows {
		note := r.Unknown
		if note == "" && r.Latest == "" {
			note = "up to date"
		}
		latest := r.Latest
		if len(latest) > maxShown {
			latest = latest[:12] // a commit, as CURRENT has it
		}
		table = append(table, []string{r.Component, r.Current, cmp.Or(r.Patch, "-"), cmp.Or(latest, "-"), note})
	}
	return table
}
