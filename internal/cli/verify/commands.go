package verify

import (
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
)

// New returns the verify command.
func New(a *app.App) *cobra.Command {
	a.CatalogDate = catalogflag.Date
	t := &tool{App: a, failOn: finding.DefaultFailOn}
	root := &cobra.Command{
		Use: "verify",
	}
	checks := []*cobra.Command{newPayload(t), newRebuild(t), newTemplate(t), newSkew(t)}
	root.AddCommand(append(checks, newCatalog(t))...)
	for _, c := range checks {
		t.reports(c)
	}
	app.Help(root, help)
	return root
}
