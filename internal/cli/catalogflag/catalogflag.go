// Package catalogflag is the catalog that commands use: the embedded one, with the rows
// of --catalog over it. It isn't for the
// node's verify.exe, which brings no catalog along.
package catalogflag

import (
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/catalog"
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

// Load is the embedded catalog with the flag's rows. Errors are *fault.Error.
func (f *Flag) Load() (*catalog.Catalog, error) {
	var overlays []catalog.Overlay
	for _, p := range f.Paths {
		more, err := catalog.ReadOverlays(p)
		if err != nil {
			return nil, err
		}
		overlays = append(overlays, more...)
	}
	return catalog.LoadWith(overlays...)
}

// Date is the day that the catalog in use is of, 2026-08-31.
func Date(*app.App) (string, error) {
	c, err := (&Flag{}).Load()
	if err != nil {
		return "", err
	}
	return c.AsOf, nil
}

// Releases completes another flag of the command with the releases that the
// catalog has.
func (f *Flag) Releases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	known, err := f.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var list []string
	for _, r := range known.Releases {
		list = append(list, r.OpenShift)
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
