package kube

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// Inventory joins what was gathered. The Collector can be added to and asked
// again.
func (c *Collector) Inventory() *inventory.Inventory {
	c.mu.Lock()
	defer c.mu.Unlock()
	inv := c.inv
	inv.Problems = slices.Concat(inv.Problems, c.contradictions())
	inv.Read = maps.Clone(inv.Read)
	inv.Nodes = slices.Clone(inv.Nodes)
	c.joinCluster(&inv.Cluster)
	for _, d := range c.drivers {
		d = c.withRunning(d)
		if p := c.classOf(&d); p != nil {
			inv.Problems = append(inv.Problems, *p)
		}
		inv.Drivers = append(inv.Drivers, d)
	}
	c.proxyLogs(inv.Nodes)
	for _, n := range c.csiNodes {
		if c.systems[n.Name] == windows || !c.readNode(n.Name) && !c.onLinux(n.Name) {
			inv.CSINodes = append(inv.CSINodes, n)
		}
	}
	inv.Volumes, inv.Idle = c.uses()
	if inv.Cluster.OpenShift+inv.Cluster.Updating+inv.Cluster.WMCO == "" {
		inv.Cluster.Other = c.other
	}
	inv.Normalize()
	return &inv
}

// joinCluster takes WMCO's version from what runs it. Its lists of services don't tell:
// they stay when it is removed, as for an update over two minors.
func (c *Collector) joinCluster(cl *inventory.Cluster) {
	for _, f := range slices.SortedStableFunc(slices.Values(c.wmco), func(a, b wmcoFact) int { return a.version.Compare(b.version) }) {
		cl.CSV = cmp.Or(f.csv, cl.CSV)
	}
	if newest, ok := c.newestWMCO(); ok {
		cl.WMCO = newest.version.String()
		cl.Evidence = append(slices.Clone(cl.Evidence), newest.at)
	}
}

// withRunning adds the images that the driver's pods run, and reads the version
// from them where the DaemonSet's own image doesn't tell.
func (c *Collector) withRunning(d inventory.Driver) inventory.Driver {
	set := key{d.Object.Namespace, d.Object.Name}
	for k, nodes := range c.running {
		if k.set != set || k.container != d.Container {
			continue
		}
		img, err := podtext.ParseImage(k.image)
		if err != nil {
			continue
		}
		d.Running = append(d.Running, inventory.Running{Image: img, Nodes: slices.Sorted(maps.Keys(nodes))})
	}
	for k, nodes := range c.broken {
		if k.set == set {
			d.Broken = append(d.Broken, inventory.Broken{Container: k.container, Reason: k.reason, Nodes: slices.Sorted(maps.Keys(nodes))})
		}
	}
	slices.SortFunc(d.Broken, func(a, b inventory.Broken) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Container, b.Container))
	})
	slices.SortFunc(d.Running, func(a, b inventory.Running) int { return cmp.Compare(a.Image.Reference, b.Image.Reference) })
	if !d.Version.Known {
		c.versionOfRunning(&d)
	}
	return d
}

// versionOfRunning takes the version that all pods run, where their digests are
// known.
func (c *Collector) versionOfRunning(d *inventory.Driver) {
	var all inventory.VersionFact
	for i, r := range d.Running {
		at := inventory.Evidence{Where: "Pods of " + d.Object.String() + " status.containerStatuses.imageID", Text: r.Image.Reference}
		fact := inventory.VersionFact{At: at}
		if !c.mapped(&fact, r.Image) || !fact.Known {
			return
		}
		if i > 0 && fact.Version != all.Version {
			d.Version.Reason += "; its pods run several versions"
			return
		}
		all = fact
	}
	if all.Known {
		all.By = byRunning
		d.Version = all
		d.Evidence = append(slices.Clone(d.Evidence), all.At)
	}
}

func (c *Collector) uses() (used, idle []inventory.VolumeUse) {
	templates := slices.DeleteFunc(slices.Clone(c.templates), func(t podRecord) bool { return !t.idle && !c.countTemplates || c.hasPods(t.object) })
	for _, p := range slices.Concat(c.pods, templates) {
		switch {
		case !c.onWindows(p):
		case p.idle:
			idle = append(idle, c.usesOf(p)...)
		default:
			used = append(used, c.usesOf(p)...)
		}
	}
	return used, idle
}

// hasPods tells whether a pod of a workload was read.
func (c *Collector) hasPods(o inventory.Object) bool {
	if c.owned[key{o.Namespace, o.Kind + "/" + o.Name}] {
		return true
	}
	kind := between[o.Kind] // "" is no owner's
	for k := range c.owned {
		if i := strings.LastIndexByte(k.name, '-'); i > 0 && k.namespace == o.Namespace && k.name[:i] == kind+"/"+o.Name {
			return true
		}
	}
	return false
}

func (c *Collector) usesOf(p podRecord) []inventory.VolumeUse {
	var out []inventory.VolumeUse
	for _, v := range p.volumes {
		u := inventory.VolumeUse{Pod: p.object, Node: p.node, Volume: v.name, Claim: v.claim, Inline: v.inline, Mounted: p.runs, At: v.at}
		if v.inline {
			u.Provisioner, u.InTree = v.direct.provisioner, v.direct.inTree
		}
		if v.inline || c.resolve(&u, key{p.object.Namespace, v.claim}, v) {
			out = append(out, u)
		}
	}
	return out
}

// resolve finds who serves a claim's volume; false where no CSI driver does.
func (c *Collector) resolve(u *inventory.VolumeUse, k key, v volumeRecord) bool {
	cl, read := c.claims[k]
	u.PV = cmp.Or(cl.volume, c.byClaim[k])
	if pv, ok := c.pvs[u.PV]; ok && u.PV != "" {
		u.Provisioner, u.InTree, u.MigratedTo, u.Affinity = pv.provisioner, pv.inTree, pv.migratedTo, pv.affinity
		return u.Provisioner != "" || u.InTree != ""
	}
	u.MigratedTo = cl.migratedTo
	if maker := cl.maker; maker != "" {
		c.madeBy(u, maker)
		return true
	}
	switch class := cmp.Or(cl.class, v.class); {
	case u.PV != "":
		u.Reason = "PersistentVolume " + u.PV + " wasn't read"
	case !read && v.class == nil && u.Claim != "":
		u.Reason = "PersistentVolumeClaim " + u.Claim + " wasn't read"
	case class == nil && c.defaults != 1:
		u.Reason = "the claim isn't bound, names no class, and which class is the default isn't known"
	case class == nil:
		c.madeBy(u, c.classes[c.fallback])
	case *class == "":
		u.Reason = "the claim isn't bound yet"
	case c.classes[*class] == "":
		u.Reason = "the claim isn't bound, and StorageClass " + *class + " wasn't read"
	default:
		c.madeBy(u, c.classes[*class])
	}
	return true
}

func (c *Collector) madeBy(u *inventory.VolumeUse, provisioner string) {
	u.Provisioner = provisioner
	if csi := csiName(provisioner); csi != "" {
		u.InTree, u.Provisioner = provisioner, csi
	}
}
