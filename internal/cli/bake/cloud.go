package bake

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests/wmco"
	"github.com/winbake/winbake/internal/node/wanted"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/winsvc"
)

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
