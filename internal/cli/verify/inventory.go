package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/kube"
	"github.com/winbake/winbake/internal/inventory/manifests"
	"github.com/winbake/winbake/internal/inventory/mustgather"
	"github.com/winbake/winbake/internal/inventory/release"
	"github.com/winbake/winbake/internal/report/facts"
)

// inputs are the flags that say what to read.
type inputs struct {
	manifests  []string
	mustGather string
	releases   []string
	images     []string
	data       []string
	insecure   bool
}

func (in *inputs) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&in.manifests, "manifests", nil, "file or folder of manifests, - for standard input; may be repeated")
	f.StringVar(&in.mustGather, "must-gather", "", "must-gather or oc adm inspect: a folder, .tar or .tar.gz")
	f.StringArrayVar(&in.releases, "release", nil, "release payload: image, OCI layout, release.txt, image-references, or oc adm release info -o json")
	f.StringArrayVar(&in.images, "image-version", nil, "version of an image that doesn't say: DIGEST_OR_IMAGE=vX.Y.Z; may be repeated")
	f.BoolVar(&in.insecure, "insecure", false, "talk plain http to the registry of --release")
	addData(cmd, &in.data)
	cmd.MarkFlagsMutuallyExclusive("manifests", "must-gather")
}

func newInventory(t *tool) *cobra.Command {
	var in inputs
	var format string
	cmd := &cobra.Command{
		Use:   "inventory",
		Short: "Show what is read of a cluster, and from where",
		Long: `inventory reads manifests or a must-gather and prints each DaemonSet that runs a
CSI driver: its driver, version, mode and pipes, and where that stands; Windows
nodes, the volumes that their pods use, what was set aside and what couldn't be
read. It judges nothing.`,
		Example: `  verify inventory --manifests cluster/
  kustomize build overlays/prod | verify inventory --manifests -
  verify inventory --must-gather must-gather.tar.gz -o json
  verify inventory --release release.txt`,
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			inv, err := t.inventory(cmd.Context(), in)
			if err != nil {
				return err
			}
			switch format {
			case "text":
				return facts.Inventory(t.Stdout, inv)
			case "json":
				enc := json.NewEncoder(t.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(inv)
			}
			return &fault.Error{What: "unknown output format " + format, Fix: "-o text or -o json"}
		},
	}
	in.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	app.Choices(cmd, "output", "text", "json")
	return cmd
}

// inventory reads all inputs into one inventory.
func (t *tool) inventory(ctx context.Context, in inputs) (*inventory.Inventory, error) {
	if len(in.manifests) == 0 && in.mustGather == "" && len(in.releases) == 0 {
		return nil, &fault.Error{What: "there is nothing to read", Fix: "give --manifests, --must-gather or --release"}
	}
	known, err := loadCatalog(in.data)
	if err != nil {
		return nil, err
	}
	images, err := imageVersions(in.images)
	if err != nil {
		return nil, err
	}
	c := kube.NewCollector(kube.Options{Catalog: known, ImageVersions: images})
	var sources []inventory.Source
	if len(in.manifests) > 0 {
		s, err := manifests.Read(ctx, c, in.manifests, t.Stdin)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	if in.mustGather != "" {
		s, err := mustgather.Read(ctx, c, in.mustGather)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	inv := c.Inventory()
	for _, ref := range in.releases {
		p, s, err := release.Read(ctx, ref, release.Options{Insecure: in.insecure, Keychain: authn.DefaultKeychain, UserAgent: "winbake/" + app.Version()})
		if err != nil {
			return nil, err
		}
		inv.Payloads = append(inv.Payloads, p)
		sources = append(sources, s)
	}
	inv.Sources = sources
	return inv, nil
}

// imageVersions reads --image-version.
func imageVersions(list []string) (map[string]string, error) {
	images := map[string]string{}
	for _, s := range list {
		i := strings.LastIndex(s, "=")
		if i <= 0 || i == len(s)-1 {
			return nil, &fault.Error{What: fmt.Sprintf("--image-version can't be %q", s), Fix: "--image-version sha256:...=v1.33.3"}
		}
		images[s[:i]] = s[i+1:]
	}
	return images, nil
}
