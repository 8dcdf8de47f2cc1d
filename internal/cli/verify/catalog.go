package verify

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/report/facts"
)

func newCatalog(t *tool) *cobra.Command {
	output := app.Output{
		Kinds:   map[string]any{"Catalog": &catalog.Catalog{}, "CatalogRelease": &catalog.About{}, "CatalogDriver": &catalog.Driver{}},
		Formats: []string{"table", "json", "yaml"},
	}
	var rows catalogflag.Flag
	cmd := &cobra.Command{
		Use:  "catalog [RELEASE|DRIVER]",
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return rowNames(&rows, cmd, args, prefix)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := rows.Load()
			if err != nil {
				return err
			}
			return printCatalog(t.Stdout, c, &output, strings.Join(args, ""))
		},
	}
	output.Register(cmd)
	rows.Register(cmd)
	return cmd
}

// rowNames completes the argument: releases, then drivers.
func rowNames(rows *catalogflag.Flag, cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	list, directive := rows.Releases(cmd, args, prefix)
	known, err := rows.Load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, d := range known.Drivers {
		list = append(list, d.Name)
	}
	return list, directive
}

func printCatalog(w io.Writer, c *catalog.Catalog, output *app.Output, which string) error {
	var v any = c
	text := func() error { return facts.Catalog(w, c) }
	if which != "" {
		var about *catalog.About
		if release, err := version.ParseOpenShift(which); err == nil {
			about = c.About(release)
		}
		d := c.Driver(which)
		switch {
		case about != nil:
			v, text = about, func() error { return facts.Release(w, c, about) }
		case d != nil:
			v, text = d, func() error { return facts.Driver(w, c, d) }
		default:
			return &fault.Error{What: "the catalog has no release and no driver " + which, Fix: "verify catalog lists the releases and drivers; --catalog adds some, and the newest verify has the newest facts"}
		}
	}
	switch output.String() {
	case "json":
		return output.JSON(w, v)
	case "yaml":
		out, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(out)
		return err
	}
	return text()
}
