package kube

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
)

// known finds the catalog's drivers by what manifests call them. A name that two
// drivers share means neither.
type known struct{ *catalog.Catalog }

func newKnown(c *catalog.Catalog) known {
	if c == nil {
		c = &catalog.Catalog{}
	}
	return known{c}
}

func (k known) named(name string, names func(*catalog.Driver) []string) (found *catalog.Driver) {
	for i := range k.Drivers {
		d := &k.Drivers[i]
		if !slices.ContainsFunc(names(d), func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = d
	}
	return found
}

// folder finds a driver by its folder below the kubelet's plugins. Windows
// paths don't mind the case.
func (k known) folder(name string) *catalog.Driver {
	if d := k.ByProvisioner(name); d != nil {
		return d
	}
	return k.named(name, func(d *catalog.Driver) []string { return d.Folders })
}

// image finds a driver by the end of a repository's path: a mirror keeps it
// (WMCO's README demands it of one).
func (k known) image(repository string) *catalog.Driver {
	for rest := repository; rest != ""; _, rest, _ = strings.Cut(rest, "/") {
		if d := k.named(rest, func(d *catalog.Driver) []string { return d.Images }); d != nil {
			return d
		}
	}
	return nil
}

func (k known) daemonSet(name string) *catalog.Driver {
	return k.named(name, func(d *catalog.Driver) []string { return d.DaemonSets })
}

func (k known) nodeLabels() []string {
	var labels []string
	for _, i := range k.Incompatible {
		if i.UnlessNodeLabel != "" {
			labels = append(labels, i.UnlessNodeLabel)
		}
	}
	return labels
}
