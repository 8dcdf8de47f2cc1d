package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
	"github.com/winbake/winbake/internal/cluster/inventory/manifests"
	"github.com/winbake/winbake/internal/cluster/inventory/mustgather"
	"github.com/winbake/winbake/internal/cluster/inventory/release"
)

type inputs struct {
	manifests  []string
	mustGather string
	releases   []string
	images     []string
	catalog    catalogflag.Flag
	registry   app.Registry
	cluster    cluster.Flags
	clusterSet *pflag.FlagSet
}

func (in *inputs) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&in.releases, "release-image", nil, "release payload: an image, an OCI layout, or what oc adm release info --commits RELEASE wrote to a file")
	f.StringArrayVar(&in.images, "image-version", nil, "version of an image that doesn't say, DIGEST_OR_IMAGE=vX.Y.Z or =vX.Y.Z@COMMIT, or a file of such lines; may be repeated")
	in.registry.Register(f, "the registry of --release-image")
	in.catalog.Register(cmd)
	f.StringArrayVar(&in.manifests, "manifests", nil, "file or folder of manifests, - for standard input; may be repeated")
	f.StringVar(&in.mustGather, "must-gather", "", "folder of a must-gather, or of oc adm inspect")
	in.clusterSet = addCluster(cmd, &in.cluster)
}

// addCluster adds kubectl's flags to a command; its help has the two that choose a cluster.
func addCluster(cmd *cobra.Command, flags *cluster.Flags) *pflag.FlagSet {
	set := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	flags.Register(set)
	app.Rare(set, "Flags of kubectl, for a live cluster", "kubeconfig", "context")
	cmd.Flags().AddFlagSet(set)
	return set
}

// wantsCluster tells whether any of kubectl's flags was given.
func (in *inputs) wantsCluster() bool {
	given := false
	in.clusterSet.VisitAll(func(f *pflag.Flag) { given = given || f.Changed })
	return given
}

func (in *inputs) check() error {
	if len(in.manifests) > 0 && in.mustGather != "" {
		return &fault.Error{What: "--manifests and --must-gather were both given, and each is a whole cluster", Fix: "give one of them"}
	}
	if in.wantsCluster() && (len(in.manifests) > 0 || in.mustGather != "") {
		return &fault.Error{What: "kubectl's flags are for a live cluster, and something else is to be read", Fix: "leave them out, or leave --manifests and --must-gather out"}
	}
	return nil
}

// noPaths refuses arguments, and tells what a shell's *.yaml makes of
// --manifests *.yaml.
func noPaths(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if _, err := version.ParseOpenShift(args[0]); err == nil && cmd.Flags().Lookup("to") != nil {
			return &fault.Error{What: fmt.Sprintf("%q belongs to no flag", args[0]), Fix: "name the target with --to " + args[0]}
		}
	}
	if len(args) > 0 && cmd.Flags().Changed("manifests") {
		return &fault.Error{
			What: fmt.Sprintf("%q belongs to no flag", args[0]),
			Fix:  "name the folder, or repeat the flag: --manifests a.yaml --manifests b.yaml",
		}
	}
	return cobra.NoArgs(cmd, args)
}

func (t *tool) inventory(ctx context.Context, known *catalog.Catalog, in inputs) (*inventory.Inventory, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	images, err := imageVersions(in.images)
	if err != nil {
		return nil, err
	}
	c := kube.NewCollector(kube.Options{Catalog: known, ImageVersions: images})
	sources, err := t.objects(ctx, c, in)
	if err != nil {
		return nil, err
	}
	inv := c.Inventory()
	for _, ref := range in.releases {
		p, s, err := release.Read(ctx, ref, in.registry.Options(t.App))
		if err != nil {
			return nil, err
		}
		inv.Payloads = append(inv.Payloads, p)
		sources = append(sources, s)
	}
	inv.Sources = sources
	return inv, nil
}

// objects reads the cluster's objects from where the flags say that they are.
func (t *tool) objects(ctx context.Context, c *kube.Collector, in inputs) ([]inventory.Source, error) {
	var s inventory.Source
	var err error
	switch {
	case len(in.manifests) > 0:
		s, err = manifests.Read(ctx, c, in.manifests, t.Stdin)
	case in.mustGather != "":
		s, err = mustgather.Read(ctx, c, in.mustGather)
	default:
		s, err = t.live(ctx, c, in)
	}
	if err != nil {
		return nil, err
	}
	return []inventory.Source{s}, nil
}

func (t *tool) live(ctx context.Context, c *kube.Collector, in inputs) (inventory.Source, error) {
	config, name, err := in.cluster.Config()
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) && !in.wantsCluster() {
			f.Fix += "; or read something else: --manifests, --must-gather"
		}
		return inventory.Source{}, err
	}
	config.UserAgent = "winbake/" + app.Version()
	shown := cmp.Or(name, config.Host)
	t.Tell(shown, event.Read, event.Start, "")
	s, err := cluster.Read(ctx, c, cluster.Options{Config: config, Context: name, Given: in.cluster.Given(), Progress: func(what string, done, total int64) {
		t.Console.Emit(event.Event{Object: shown, Phase: event.Read, State: event.Progress, Done: done, Total: total, Message: what})
	}})
	if err != nil {
		return s, err // the fault says it all; a line for the phase would say it twice
	}
	t.Tell(shown, event.Read, event.Done, "")
	return s, nil
}

// imageVersions reads --image-version: IMAGE=vX.Y.Z or IMAGE=vX.Y.Z@COMMIT, or a file of such lines, in which
// # starts a comment.
func imageVersions(list []string) (map[string]string, error) {
	images := map[string]string{}
	for _, given := range list {
		if strings.Contains(given, "=") {
			if err := imageVersion(images, given, "--image-version"); err != nil {
				return nil, err
			}
			continue
		}
		data, err := infile.Read(given, infile.Text)
		if err != nil {
			return nil, &fault.Error{
				What: fmt.Sprintf("%q is neither DIGEST_OR_IMAGE=vX.Y.Z nor a file of such lines", given), Where: "--image-version",
				Fix: "--image-version sha256:...=v1.33.3", Err: err,
			}
		}
		for n, line := range strings.Split(string(data), "\n") {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if err := imageVersion(images, line, fmt.Sprintf("%s:%d", given, n+1)); err != nil {
				return nil, err
			}
		}
	}
	return images, nil
}

var commits = regexp.MustCompile(`^[0-9a-f]{40}$`)

// imageVersion takes one IMAGE=vX.Y.Z or IMAGE=vX.Y.Z@COMMIT that is at where.
func imageVersion(images map[string]string, s, where string) error {
	i := strings.LastIndex(s, "=")
	if i <= 0 || i == len(s)-1 {
		return &fault.Error{What: fmt.Sprintf("%q isn't DIGEST_OR_IMAGE=vX.Y.Z", s), Where: where, Fix: "sha256:...=v1.33.3, or registry.example.com/mirror/driver=v1.33.3"}
	}
	image, tag := strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:])
	tagged, commit, built := strings.Cut(tag, "@")
	if built && !commits.MatchString(commit) {
		return &fault.Error{What: fmt.Sprintf("%s: %q is no full commit", image, commit), Where: where, Fix: image + "=" + tagged + "@COMMIT, as the image's label org.opencontainers.image.revision has it"}
	}
	if _, err := version.ParseDriver(tagged); err != nil {
		return &fault.Error{What: fmt.Sprintf("%s: %v", image, err), Where: where, Fix: image + "=vX.Y.Z, the driver's upstream version", Err: err}
	}
	images[image] = tag
	return nil
}
