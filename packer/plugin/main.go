// Command packer-plugin-winbake lets a Packer build put a payload image onto a
// Windows Server guest, check the guest, and write down what was found. Packer starts
// it; docs/golden-image.md says what it can do.
package main

import (
	"fmt"
	"os"

	"github.com/hashicorp/packer-plugin-sdk/plugin"

	payloaddata "github.com/winbake/winbake/packer/plugin/datasource/payload"
	"github.com/winbake/winbake/packer/plugin/provisioner/node"
	"github.com/winbake/winbake/packer/plugin/version"
)

func main() {
	set := plugin.NewSet()
	set.RegisterDatasource("payload", new(payloaddata.Datasource))
	set.RegisterProvisioner("node", new(node.Provisioner))
	set.SetVersion(version.Plugin())
	if err := set.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
