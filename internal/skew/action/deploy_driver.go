package action

import (
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// DeployDriver deploys a driver that the cluster has no Windows DaemonSet of.
type DeployDriver struct {
	defaults
	Title   string
	Version version.Driver
	// Bake are bake's words, without --out.
	Bake    []string
	Folder  string
	Becomes inventory.Driver
}

func (a DeployDriver) apply(inv *inventory.Inventory) {
	put(inv, a.Becomes)
}

func (a DeployDriver) registers() registration {
	return registration{a.Becomes.Object, a.Becomes.Provisioner}
}

func (DeployDriver) rank() int { return rankDrivers }

func (a DeployDriver) sets() []setting {
	return []setting{{"image of " + a.Becomes.Object.String(), a.Becomes.Image.Reference}}
}
