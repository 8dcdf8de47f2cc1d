// Package catalogflag is the catalog that commands use: the embedded one, or the one
// that verify catalog update kept, with the rows of --catalog over it. It isn't for the
// node's verify.exe, which brings no catalog along.
package catalogflag

import (
	"context"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/catalog/signed"
)

// Flag is the value of --catalog.
type Flag struct {
	// Paths of files and folders, as the user wrote them.
	Paths []string
}

// Register adds the flag to a command.
func (f *Flag) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.Paths, "catalog", nil, "file or folder of catalog rows that add to the embedded ones or override them; may be repeated")
}

// Load is the catalog that is in use, the kept one or the embedded one, with the
// flag's rows. a is told which; nil tells nobody. Errors are *fault.Error.
func (f *Flag) Load(a *app.App) (*catalog.Catalog, error) {
	var overlays []catalog.Overlay
	for _, p := range f.Paths {
		more, err := catalog.ReadOverlays(p)
		if err != nil {
			return nil, err
		}
		overlays = append(overlays, more...)
	}
	kept, err := signed.Kept(context.Background())
	if err != nil {
		a.Once(logrus.WarnLevel, err.Error()+"\nthe built-in catalog of "+catalog.BuiltIn()+" is used")
	}
	if kept == nil {
		a.Once(logrus.DebugLevel, "the catalog is the built-in one, of "+catalog.BuiltIn())
		return catalog.LoadWith(overlays...)
	}
	a.Once(logrus.InfoLevel, "the catalog is of "+kept.AsOf+", from "+kept.Name)
	return kept.Load(overlays...)
}

// Date is the day that the catalog in use is of, 2026-08-31.
func Date(a *app.App) (string, error) {
	c, err := (&Flag{}).Load(a)
	if err != nil {
		return "", err
	}
	return c.AsOf, nil
}

// Releases completes another flag of the command with the releases that the
// catalog has.
func (f *Flag) Releases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	known, err := f.Load(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var list []string
	for _, r := range known.Releases {
		list = append(list, r.OpenShift)
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
