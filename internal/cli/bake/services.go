package bake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests"
	"github.com/winbake/winbake/internal/manifests/wmco"
	"github.com/winbake/winbake/internal/node/wanted"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/winsvc"
)

func newSC(t *tool) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "setup-script [service...]",
		Short: "Write a cmd.exe script that sets services up on a node without WMCO",
		Long: `setup-script writes a script for an administrator's cmd.exe on a Windows node that WMCO
doesn't manage: log folder first, then create or reconfigure, failure actions,
start, and wait until it runs. It is safe to run again: a service that is right
and runs is left alone. The programs must be on the node already.

Without names it takes all services of versions.yaml but those that only WMCO
can set up. --undo writes the script that removes them again; programs and logs
stay.`,
		Example: `  bake manifests setup-script > setup.cmd
  bake manifests setup-script csi-proxy > setup.cmd && scp setup.cmd Administrator@node:
  bake manifests setup-script --undo > remove.cmd`,
		ValidArgsFunction: t.fromPins(serviceNames),
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
		return nil, nil, &fault.Error{Where: file.Path, What: "no services are declared", Fix: "add services: [{name: csi-proxy, component: csi-proxy}]; docs/services.md has the keys"}
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

func addCluster(cmd *cobra.Command, c *wmco.Cluster) {
	f := cmd.Flags()
	f.StringVar(&c.Cloud, "cloud", "", "write the services of a cluster on none, vsphere, aws, azure, gcp or nutanix (default those of versions.yaml alone)")
	f.StringVar(&c.APIServer, "api-server", "", "with --cloud: the address at which nodes reach the cluster's API server")
	f.Uint16Var(&c.VXLANPort, "vxlan-port", 0, "with --cloud: the port of the hybrid overlay network, if the cluster sets one")
	app.Complete(cmd, "cloud", cobra.FixedCompletions(wmco.Clouds(), cobra.ShellCompDirectiveNoFileComp))
	app.Complete(cmd, "api-server", cobra.NoFileCompletions)
	app.Complete(cmd, "vxlan-port", cobra.NoFileCompletions)
}

// readServer is the command that tells a cluster's --api-server.
const readServer = `"$(oc get infrastructure cluster -o jsonpath='{.status.apiServerInternalURI}')"`

// clusterServices are the services of versions.yaml, in a cluster if one is
// named.
func (t *tool) clusterServices(c wmco.Cluster) (*pins.File, []winsvc.Service, error) {
	if c.Cloud == "" {
		if c != (wmco.Cluster{}) {
			return nil, nil, &fault.Error{What: "--api-server and --vxlan-port change what --cloud writes, and there is no --cloud", Fix: "add --cloud, such as --cloud vsphere"}
		}
		return t.services()
	}
	if err := c.Check(); err != nil {
		return nil, nil, err
	}
	file, err := pins.Load(t.file)
	if err != nil {
		return nil, nil, err
	}
	c.Release = file.Release
	declared, err := wanted.Services(file, t.warn)
	if err != nil {
		return nil, nil, err
	}
	services, err := c.Services(declared, t.warn)
	for _, s := range services {
		if strings.Contains(s.Command(), wmco.ExampleServer) {
			t.warn(s.Name, wmco.ExampleServer+" is an example: pass --api-server "+readServer)
		}
	}
	return file, services, err
}
