package action

import (
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// ReplaceDriver puts the complete DaemonSet that bake writes in the place of the
// present one: same namespace, name and selector, so that its pods roll.
type ReplaceDriver struct {
	defaults
	Object inventory.Object
	// Title and Version are the driver's, Why says why the tag alone isn't enough.
	Title, Why string
	Version    version.Driver
	// Bake are bake's words, without --out; they read what Saved names.
	Bake []string
	// Access are the folder's other files, in their order; DaemonSet is its name.
	Access    []string
	DaemonSet string
	Folder    string
	Image     string
	Strategy  string
	// Becomes is the driver that it makes of the present one.
	Becomes inventory.Driver
}

func (a ReplaceDriver) apply(inv *inventory.Inventory) {
	become(inv, &a.Becomes)
}

func (a ReplaceDriver) registers() registration {
	return registration{a.Object, a.Becomes.Provisioner}
}

func (ReplaceDriver) rank() int { return rankDrivers }

func (a ReplaceDriver) changes() []inventory.Object { return []inventory.Object{a.Object} }

// sets: what was changed in a pod is gone with a replacement.
func (a ReplaceDriver) sets() []setting {
	return []setting{{"image of " + a.Object.String(), a.Image}, {"pod of " + a.Object.String(), a.Image}}
}

func (a ReplaceDriver) outcome() *inventory.Driver { return &a.Becomes }
