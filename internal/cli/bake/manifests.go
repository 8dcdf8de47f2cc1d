package bake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/wanted"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cli/clusterfiles"
	"github.com/winbake/winbake/internal/cluster/manifests"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

func newManifests(t *tool) *cobra.Command {
	cmd := &cobra.Command{Use: "manifests"}
	cmd.AddCommand(newServices(t), newSC(t), clusterfiles.NewCSIDriver(t.App), clusterfiles.NewPrecheck(t.App), clusterfiles.NewNode(t.App))
	return cmd
}

type servicesOptions struct {
	wmcoVersion, namespace string
}

func newServices(t *tool) *cobra.Command {
	var o servicesOptions
	cmd := &cobra.Command{
		Use: "windows-services", SuggestFor: []string{"services"},
		RunE: func(*cobra.Command, []string) error {
			return t.print(t.servicesManifest(o))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.wmcoVersion, "wmco-version", "", "the operator's full version, such as 10.20.1-1a2b3c4 (default the release's first, without a commit)")
	f.StringVar(&o.namespace, "namespace", manifests.Namespace, "the operator's namespace")
	app.Complete(cmd, "wmco-version", cobra.NoFileCompletions)
	return cmd
}

// servicesManifest is the pipeline: pins and catalog, entries, YAML.
func (t *tool) servicesManifest(o servicesOptions) ([]byte, error) {
	file, services, err := t.services()
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
	return c.YAML()
}

// wmcoVersion is the version that the ConfigMap's name ends in, and the same
// to compare with.
func (t *tool) wmcoVersion(file *pins.File, text string) (string, version.WMCO, error) {
	cat, err := (&catalogflag.Flag{}).Load()
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

func (t *tool) print(text []byte, err error) error {
	if err == nil {
		_, err = t.Stdout.Write(text)
	}
	return err
}

func (t *tool) warn(object, message string) {
	t.Tell(object, event.Write, event.Warning, message)
}

func newSC(t *tool) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use: "setup-script [service...]", SuggestFor: []string{"sc"},
		Args: cobra.ArbitraryArgs, ValidArgsFunction: t.fromPins(serviceNames),
		RunE: func(_ *cobra.Command, args []string) error {
			return t.print(t.sc(args, undo))
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the services instead")
	return cmd
}

func (t *tool) sc(names []string, undo bool) ([]byte, error) {
	_, services, err := t.services()
	if err != nil {
		return nil, err
	}
	chosen, err := selectServices(services, names)
	if err != nil {
		return nil, err
	}
	if undo {
		return manifests.UndoSC(chosen)
	}
	return manifests.SC(chosen)
}

// selectServices are the named ones, or all that need no WMCO.
func selectServices(services []winsvc.Service, names []string) ([]winsvc.Service, error) {
	var chosen []winsvc.Service
	var all []string
	for _, s := range services {
		all = append(all, s.Name)
		if slices.Contains(names, s.Name) || len(names) == 0 && s.Standalone() {
			chosen = append(chosen, s)
		}
	}
	for _, n := range names {
		if !slices.Contains(all, n) {
			return nil, &fault.Error{What: fmt.Sprintf("there is no service %q", n), Fix: "one of: " + strings.Join(all, ", ")}
		}
	}
	if len(chosen) == 0 {
		return nil, &fault.Error{What: "only WMCO can set these services up: " + strings.Join(all, ", "), Fix: "declare csi-proxy: services: [{name: csi-proxy, component: csi-proxy}]"}
	}
	return chosen, nil
}

func (t *tool) services() (*pins.File, []winsvc.Service, error) {
	file, err := pins.Load(t.file)
	if err != nil {
		return nil, nil, err
	}
	if len(file.Services) == 0 {
		return nil, nil, &fault.Error{Where: file.Path, What: "no services are declared", Fix: "add services: [{name: csi-proxy, component: csi-proxy}]; https://github.com/winbake/winbake/blob/main/docs/node.md#services has the keys"}
	}
	services, err := wanted.Services(file, t.warn)
	return file, services, err
}

func serviceNames(file *pins.File) (names []string) {
	for _, s := range file.Definitions() {
		if s.Standalone() {
			names = append(names, s.Name)
		}
	}
	return names
}
