package kube

import (
	"strings"

	"github.com/winbake/winbake/internal/catalog"
)

// known finds the catalog's drivers by what manifests call them.
type known struct {
	catalog       *catalog.Catalog
	byProvisioner map[string]*catalog.Driver
	byFolder      map[string]*catalog.Driver
	byDaemonSet   map[string]*catalog.Driver
	byImage       map[string]*catalog.Driver
}

func newKnown(c *catalog.Catalog) known {
	k := known{
		catalog:       c,
		byProvisioner: map[string]*catalog.Driver{},
		byFolder:      map[string]*catalog.Driver{},
		byDaemonSet:   map[string]*catalog.Driver{},
		byImage:       map[string]*catalog.Driver{},
	}
	if c == nil {
		return k
	}
	for i := range c.Drivers {
		d := &c.Drivers[i]
		k.byProvisioner[strings.ToLower(d.Provisioner)] = d
		index(k.byFolder, d.Folders, d)
		index(k.byDaemonSet, d.DaemonSets, d)
		index(k.byImage, d.Images, d)
	}
	return k
}

// index enters a driver under names; a name that two drivers share means
// neither.
func index(m map[string]*catalog.Driver, names []string, d *catalog.Driver) {
	for _, name := range names {
		name = strings.ToLower(name)
		if old, taken := m[name]; taken && old != d {
			m[name] = nil
			continue
		}
		m[name] = d
	}
}

// folder finds a driver by its folder below the kubelet's plugins. Windows
// paths don't mind the case.
func (k known) folder(name string) *catalog.Driver {
	name = strings.ToLower(name)
	if d := k.byProvisioner[name]; d != nil {
		return d
	}
	return k.byFolder[name]
}

// image finds a driver by the end of a repository's path: a mirror keeps it
// (WMCO's README demands it of one).
func (k known) image(repository string) *catalog.Driver {
	for rest := strings.ToLower(repository); rest != ""; {
		if d := k.byImage[rest]; d != nil {
			return d
		}
		_, rest, _ = strings.Cut(rest, "/")
	}
	return nil
}

func (k known) daemonSet(name string) *catalog.Driver { return k.byDaemonSet[strings.ToLower(name)] }

func (k known) digest(digest string) (catalog.Digest, bool) {
	if k.catalog == nil || digest == "" {
		return catalog.Digest{}, false
	}
	for _, d := range k.catalog.Digests {
		if d.Digest == digest {
			return d, true
		}
	}
	return catalog.Digest{}, false
}

func (k known) nodeLabels() []string {
	if k.catalog == nil {
		return nil
	}
	var labels []string
	for i := range k.catalog.Incompatible {
		if label := k.catalog.Incompatible[i].UnlessNodeLabel; label != "" {
			labels = append(labels, label)
		}
	}
	return labels
}
