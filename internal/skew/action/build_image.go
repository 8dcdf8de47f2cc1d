package action

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// BuildImage builds an image of the commit that a release ships, where nobody publishes
// one that fits, and gives it to a DaemonSet.
type BuildImage struct {
	// SetImage has of its Image only where bake writes the reference to: Built.
	SetImage
	// Release is the cluster's minor, Commit the one that it ships as far as is known.
	Release, Commit string
	// Bake are bake's words without --base, Bases the images that it is put onto, by tag.
	Bake, Bases []string
	// Why says why no published image fits.
	Why string
}

// File is what Built was made of.
func (a BuildImage) File() string { return a.Image[1:] }

func (a BuildImage) apply(inv *inventory.Inventory) {
	a.SetImage.apply(inv)
	if d := driver(inv, a.Object); d != nil {
		d.Version.By, d.Version.Commit = "user", a.Commit
	}
}

func (a BuildImage) sets() []setting {
	return []setting{{"image of " + a.Object.String(), a.Image}}
}

// Built is the reference that a file holds, instead of an image.
func Built(file string) string { return "@" + file }
