package verify

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/report/facts"
)

func newCatalog(t *tool) *cobra.Command {
	var format string
	var data []string
	cmd := &cobra.Command{
		Use:   "catalog [RELEASE|DRIVER]",
		Short: "Show what is known of releases and drivers",
		Long: `catalog prints the facts that verify brings along: which CSI driver versions an
OpenShift release ships, and what each driver needs on Windows. A release or a
driver prints that one alone, with the evidence of each row. It reads no
network; --data adds or overrides rows.`,
		Example: `  verify catalog
  verify catalog 4.20
  verify catalog vsphere
  verify catalog -o yaml > catalog.yaml
  verify catalog 4.21 --data my-rows.yaml`,
		Args:              app.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: rowNames,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadCatalog(data)
			if err != nil {
				return err
			}
			return printCatalog(t.Stdout, c, format, strings.Join(args, ""))
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or yaml")
	addData(cmd, &data)
	app.Choices(cmd, "output", "table", "json", "yaml")
	return cmd
}

// rowNames completes the argument: releases, then drivers.
func rowNames(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	list, directive := releases(cmd, args, prefix)
	known, err := catalog.Load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, d := range known.Drivers {
		list = append(list, d.Name)
	}
	return list, directive
}

func addData(cmd *cobra.Command, data *[]string) {
	cmd.Flags().StringArrayVar(data, "data", nil, "file or folder of catalog rows that add to or override the embedded ones; may be repeated")
}

// loadCatalog reads the embedded catalog under the overlays of paths.
func loadCatalog(paths []string) (*catalog.Catalog, error) {
	var overlays []catalog.Overlay
	for _, p := range paths {
		more, err := catalog.ReadOverlays(p)
		if err != nil {
			return nil, err
		}
		overlays = append(overlays, more...)
	}
	return catalog.LoadWith(overlays...)
}

func printCatalog(w io.Writer, c *catalog.Catalog, format, which string) error {
	var v any = c
	text := func() error { return facts.Catalog(w, c) }
	if which != "" {
		r, d := c.Release(which), c.Driver(which)
		switch {
		case r != nil:
			v, text = r, func() error { return facts.Release(w, c, r) }
		case d != nil:
			v, text = d, func() error { return facts.Driver(w, c, d) }
		default:
			return &fault.Error{What: "the catalog has no release and no driver " + which, Fix: "verify catalog lists the releases and drivers; --data adds some"}
		}
	}
	switch format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
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
