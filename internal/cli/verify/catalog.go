package verify

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/catalog/signed"
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
			c, err := rows.Load(t.App)
			if err != nil {
				return err
			}
			return printCatalog(t.Stdout, c, &output, strings.Join(args, ""))
		},
	}
	output.Register(cmd)
	rows.Register(cmd)
	cmd.AddCommand(newCatalogUpdate(t))
	return cmd
}

// rowNames completes the argument: releases, then drivers.
func rowNames(rows *catalogflag.Flag, cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	list, directive := rows.Releases(cmd, args, prefix)
	known, err := rows.Load(nil)
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
			return &fault.Error{What: "the catalog has no release and no driver " + which, Fix: "verify catalog lists the releases and drivers; --catalog adds some"}
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

func newCatalogUpdate(t *tool) *cobra.Command {
	var o signed.Options
	var reach app.Registry
	update := func(ctx context.Context, _ []string) (kept keptCatalog, err error) {
		if o.Now, err = now(); err != nil {
			return kept, err
		}
		o.Registry = t.load(reach)
		e, path, err := signed.Update(ctx, o)
		if err != nil {
			return kept, err
		}
		return keptCatalog{e.AsOf, e.Made, e.Expires, e.Name, path}, nil
	}
	cmd := app.Answer(t.App, "KeptCatalog", &cobra.Command{Use: "update"}, update, keptCatalog.rows)
	f := cmd.Flags()
	f.StringVar(&o.From, "from", "", "oci://REGISTRY/REPOSITORY:TAG, a file, or a folder with it (default: as this build has it)")
	f.StringVar(&o.KeyFile, "key", "", "public key, Ed25519 or ECDSA P-256 in PEM, that must have signed it (default: that of this build)")
	f.BoolVar(&o.AllowOlder, "allow-older", false, "take a catalog that is older than the one in use")
	f.BoolVar(&o.AllowExpired, "allow-expired", false, "take a catalog that expired")
	reach.Register(f, "the registry of --from")
	return cmd
}

// keptCatalog is what update answers.
type keptCatalog struct {
	AsOf    string    `json:"asOf"` // the day that the facts are of
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	From    string    `json:"from"`
	Path    string    `json:"path"`
}

func (k keptCatalog) rows() [][]string {
	return [][]string{
		{"catalog", k.AsOf}, {"signed", k.Made.Format(time.RFC3339)}, {"expires", k.Expires.Format(time.DateOnly)}, {"from", k.From}, {"kept in", k.Path},
	}
}
