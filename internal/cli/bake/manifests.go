package bake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cli/clusterfiles"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests"
	"github.com/winbake/winbake/internal/manifests/wmco"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/version"
)

func newManifests(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manifests",
		Short: "Write cluster manifests and node scripts",
		Long: `manifests writes what versions.yaml declares as files for a cluster or a node, and
the CSI driver of an OpenShift release for its Windows nodes, and what checks
updates inside the cluster. It changes neither
cluster nor node.`,
		Example: "  bake manifests windows-services > windows-services.yaml\n  bake manifests setup-script > setup.cmd\n  bake manifests csi-driver vsphere --for 4.20 --out vsphere\n  bake manifests precheck --image quay.io/me/winbake-verify@sha256:... --out precheck",
	}
	cmd.AddCommand(newServices(t), newSC(t), clusterfiles.NewCSIDriver(t.App), clusterfiles.NewPrecheck(t.App))
	return cmd
}

type servicesOptions struct {
	wmcoVersion, namespace string
	checksums              bool
	cluster                wmco.Cluster
}

func newServices(t *tool) *cobra.Command {
	var o servicesOptions
	cmd := &cobra.Command{
		Use:   "windows-services",
		Short: "Write the ConfigMap that WMCO keeps its services in",
		Long: `windows-services writes the services of versions.yaml as the immutable ConfigMap
windows-services-VERSION of the Windows Machine Config Operator, byte for byte
the same each time: to compare with a cluster's, to review, or to build into an
operator of your own. It is read back by WMCO's rules before it is written.

With --cloud it writes all services that WMCO of the file's release sets up in a
cluster there. A service that versions.yaml declares differently is kept, with a
warning, and gets what the cloud adds.

An operator keeps its own: it deletes a ConfigMap of this name that differs
from what it was built with, and makes it anew.`,
		Example: `  bake manifests windows-services --wmco-version 10.20.1-1a2b3c4
  bake manifests windows-services --cloud vsphere --vxlan-port 9898 --api-server https://api-int.mycluster.example.com:6443
  bake manifests windows-services --with-checksums --namespace my-operator
  bake manifests windows-services --wmco-version 10.20.1-1a2b3c4 | oc diff -f -`,
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.print(t.servicesManifest(cmd.Context(), o))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.wmcoVersion, "wmco-version", "", "the operator's full version, such as 10.20.1-1a2b3c4 (default the release's first, without a commit)")
	f.StringVar(&o.namespace, "namespace", manifests.Namespace, "the operator's namespace")
	f.BoolVar(&o.checksums, "with-checksums", false, "list the payload's files with their sums; WMCO itself leaves the list empty")
	addCluster(cmd, &o.cluster)
	app.Complete(cmd, "wmco-version", t.fromPins(wmcoVersions))
	return cmd
}

// servicesManifest is the pipeline: pins and catalog, entries, files, YAML.
func (t *tool) servicesManifest(ctx context.Context, o servicesOptions) ([]byte, error) {
	file, services, err := t.clusterServices(o.cluster)
	if err != nil {
		return nil, err
	}
	operator, known, err := t.wmcoVersion(file, o.wmcoVersion)
	if err != nil {
		return nil, err
	}
	entries, err := manifests.Entries(known, services)
	if err != nil {
		return nil, err
	}
	c := manifests.ConfigMap{Name: manifests.NamePrefix + operator, Namespace: o.namespace, Services: entries}
	if known.Major >= 9 { // 7 and 8 refuse a third key
		c.Watched = manifests.WatchedVariables()
	}
	if o.checksums {
		if c.Files, err = t.checksums(ctx); err != nil {
			return nil, err
		}
	}
	return c.YAML()
}

// wmcoVersion is the version that the ConfigMap's name ends in, and the same
// to compare with.
func (t *tool) wmcoVersion(file *pins.File, text string) (string, version.WMCO, error) {
	cat, err := (&catalogflag.Flag{}).Load(t.App)
	if err != nil {
		return "", version.WMCO{}, err
	}
	if text == "" {
		of := cat.WMCOFor(file.Release)
		if len(of) == 0 {
			return "", version.WMCO{}, &fault.Error{What: "the catalog knows no WMCO for OpenShift " + file.Release, Fix: "pass its full version, such as --wmco-version 10.20.1-1a2b3c4"}
		}
		text = of[0].From
		t.warn("services", "the operator's own name ends in its full version, commit and all: pass --wmco-version to get that name; this is "+manifests.NamePrefix+text)
	}
	v, err := version.ParseWMCO(text)
	if err != nil {
		return "", v, &fault.Error{What: "--wmco-version: " + err.Error(), Fix: "oc get configmaps -n " + manifests.Namespace + " shows it: windows-services-10.20.1-1a2b3c4", Err: err}
	}
	if r := cat.WMCORelease(v); r != nil && r.OpenShift != file.Release {
		t.warn("services", fmt.Sprintf("WMCO %s is for OpenShift %s, and %s is for %s", text, r.OpenShift, file.Path, file.Release))
	}
	return strings.TrimPrefix(text, "v"), v, nil
}

// checksums are the payload's files, where they are on the node, with their
// sums. All must have been built.
func (t *tool) checksums(ctx context.Context) ([]manifests.FileEntry, error) {
	_, jobs, err := t.jobs(nil)
	if err != nil {
		return nil, err
	}
	store, err := t.store()
	if err != nil {
		return nil, err
	}
	b, err := t.builder(ctx, store, buildOptions{})
	if err != nil {
		return nil, err
	}
	files := []manifests.FileEntry{}
	for _, job := range jobs {
		c := job.Component
		if c.Install == "" {
			return nil, &fault.Error{Where: t.file, What: fmt.Sprintf("component %s has no path on the node", c.Name), Fix: "add install: to the component"}
		}
		a, err := b.Lookup(ctx, job)
		if err != nil {
			return nil, err
		}
		if a == nil {
			return nil, &fault.Error{What: fmt.Sprintf("component %s isn't built, so its sum isn't known", c.Name), Fix: "bake build, then run this again"}
		}
		files = append(files, manifests.FileEntry{Path: c.Install, Checksum: strings.TrimPrefix(a.Digest, "sha256:")})
	}
	slices.SortFunc(files, func(a, b manifests.FileEntry) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func (t *tool) print(text []byte, err error) error {
	if err == nil {
		_, err = t.Stdout.Write(text)
	}
	return err
}

func (t *tool) warn(object, message string) {
	t.Console.Emit(event.Event{Object: object, Phase: event.Write, State: event.Warning, Message: message})
}

func wmcoVersions(file *pins.File) (versions []string) {
	known, err := (&catalogflag.Flag{}).Load(nil)
	if err != nil {
		return nil
	}
	for _, r := range known.WMCOFor(file.Release) {
		versions = append(versions, r.From)
	}
	return versions
}
