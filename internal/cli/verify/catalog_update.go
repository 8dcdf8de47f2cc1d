package verify

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/catalog/signed"
	"github.com/winbake/winbake/internal/cli/app"
)

func newCatalogUpdate(t *tool) *cobra.Command {
	var o signed.Options
	var reach app.Registry
	output := app.NewOutput("KeptCatalog", keptCatalog{})
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Get a newer catalog, and use it from now on",
		Long: `update fetches a signed catalog, verifies it with the key of this build or of
--key, and keeps it for the commands of verify and bake. A catalog that is older than
the one in use, expired, changed, or signed with another key is refused, and the
one in use stays. Without network, carry the file there and name it: --from FILE.`,
		Example: `  verify catalog update
  verify catalog update --from oci://quay.io/me/catalog:latest --key catalog.pub
  verify catalog update --from catalog.json`,
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Now, err = now(); err != nil {
				return err
			}
			o.Registry = t.load(reach)
			e, path, err := signed.Update(cmd.Context(), o)
			if err != nil {
				return err
			}
			kept := keptCatalog{e.AsOf, e.Made, e.Expires, e.Name, path}
			return output.Write(t.Stdout, kept, kept.rows)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.From, "from", "", "oci://REGISTRY/REPOSITORY:TAG, a file, or a folder with it (default: as this build has it)")
	f.StringVar(&o.KeyFile, "key", "", "public key, Ed25519 or ECDSA P-256 in PEM, that must have signed it (default: that of this build)")
	f.BoolVar(&o.AllowOlder, "allow-older", false, "take a catalog that is older than the one in use")
	f.BoolVar(&o.AllowExpired, "allow-expired", false, "take a catalog that expired")
	reach.Register(f, "the registry of --from")
	output.Register(cmd)
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

func (k *keptCatalog) rows() [][]string {
	return [][]string{
		{"catalog", k.AsOf}, {"signed", k.Made.Format(time.RFC3339)}, {"expires", k.Expires.Format(time.DateOnly)}, {"from", k.From}, {"kept in", k.Path},
	}
}
