package verify

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/report/facts"
)

func newInventory(t *tool) *cobra.Command {
	var in inputs
	output := app.NewOutput("Inventory", &inventory.Inventory{})
	cmd := &cobra.Command{
		Use:   "inventory",
		Short: "Show what is read of a cluster, and from where",
		Long: `inventory reads a live cluster, manifests or a must-gather and prints each DaemonSet that runs a
CSI driver: its driver, version, mode and pipes, and where that stands; Windows
nodes, the volumes that their pods use, what was set aside and what couldn't be
read. It judges nothing.`,
		Example: `  verify inventory
  verify inventory --manifests cluster/
  kustomize build overlays/prod | verify inventory --manifests -
  verify inventory --must-gather must-gather.tar.gz -o json
  verify inventory --release-image release.txt`,
		Args: noPaths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			inv, err := await(cmd.Context(), func() (*inventory.Inventory, error) { return t.read(cmd.Context(), in) })
			if err != nil {
				return err
			}
			if output.String() == "text" {
				return facts.Inventory(t.Stdout, inv)
			}
			return output.JSON(t.Stdout, inv)
		},
	}
	in.register(cmd)
	output.Register(cmd)
	return cmd
}

// read is the inventory of what was asked for: no cluster where only a payload
// was.
func (t *tool) read(ctx context.Context, in inputs) (*inventory.Inventory, error) {
	known, err := in.catalog.Load(t.App)
	if err != nil {
		return nil, err
	}
	in.payloadAlone = len(in.releases) > 0 && len(in.manifests) == 0 && in.mustGather == "" && !in.wantsCluster()
	return t.inventory(ctx, known, in)
}
