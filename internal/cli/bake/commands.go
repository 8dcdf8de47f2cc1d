package bake

import (
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cli/packertemplate"
)

// New returns the bake command.
func New(a *app.App) *cobra.Command {
	a.CatalogDate = catalogflag.Date
	t := &tool{App: a}
	root := &cobra.Command{Use: "bake"}
	f := root.PersistentFlags()
	f.StringVarP(&t.file, "file", "f", "versions.yaml", "the file with the pins")
	f.StringVar(&t.cacheDir, "cache-dir", "", "where artifacts are kept (default $XDG_CACHE_HOME/winbake)")
	root.AddCommand(
		newPayload(t), newBuild(t), newList(t), newLock(t), newPin(t), newOutdated(t), newDiff(t), newCache(t), newSchema(t),
		packertemplate.New(a), newManifests(t), newDriver(t), newVerifyExe(t), newAttest(t), newBundle(t),
	)
	app.More(root, "attest", "build", "bundle", "cache", "diff", "schema")
	app.Help(root, help)
	return root
}
