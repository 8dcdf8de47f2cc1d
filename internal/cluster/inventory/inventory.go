// Package inventory models what a cluster has: Linux and Windows CSI drivers,
// nodes, CSINodes, csi-proxy, and the volumes that Windows pods use. Each fact
// says where it was read.
//
// It holds the model and what every reader shares; the readers are in
// manifests, mustgather, cluster and release. It judges nothing: package skew
// does.
package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Inventory is what one or more readers saw of one cluster. Slices are sorted
// by Normalize, so the same input prints the same bytes.
type Inventory struct {
	Sources []Source `json:"sources"`
	Cluster Cluster  `json:"cluster"`
	// Drivers are the DaemonSets that run a CSI driver's node plugin, on
	// Linux and on Windows.
	Drivers []Driver `json:"drivers"`
	// SetAside are the workloads that were looked at and not taken.
	SetAside []SetAside `json:"setAside,omitempty"`
	// Nodes are the Windows nodes; Linux nodes are only counted.
	Nodes      []Node `json:"nodes,omitempty"`
	LinuxNodes int    `json:"linuxNodes"`
	// CSINodes are those of Windows nodes, or all where no Node was read.
	CSINodes []CSINode `json:"csiNodes,omitempty"`
	// Proxies are workloads that run csi-proxy: HostProcess DaemonSets next to
	// or instead of WMCO's service.
	Proxies []Proxy `json:"proxies,omitempty"`
	// Volumes are volumes that pods with a Windows node (or bound for one) use.
	Volumes []VolumeUse `json:"volumes,omitempty"`
	// Idle are those of workloads that are scaled to 0 pods.
	Idle []VolumeUse `json:"idle,omitempty"`
	// Leftovers are in-tree PVs and PVCs, in use or not.
	Leftovers []Leftover `json:"leftovers,omitempty"`
	// Payload is the release payload that a cluster runs or will run, where
	// one was read: drivers by commit.
	Payloads []Payload `json:"payloads,omitempty"`
	// Read says of each Resource whether it was read. A Resource that isn't
	// Read is UNKNOWN for every rule that needs it.
	Read map[Resource]Coverage `json:"read"`
	// Problems are inputs that couldn't be read: one file among many, one
	// forbidden list. A reader that can't read anything returns an error.
	Problems []Problem `json:"problems,omitempty"`
}

// Source is one input that was read.
type Source struct {
	// Kind is manifests, must-gather, cluster or release.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Context is the kubeconfig's of a cluster; "" where there is none.
	Context string `json:"context,omitempty"`
	// Detail counts what was in it, for people: "412 files, 1,650 documents".
	Detail string `json:"detail,omitempty"`
}

// Resource names a kind of object that rules need.
type Resource string

// The resources that rules ask for.
const (
	DaemonSets     Resource = "daemonsets"
	Nodes          Resource = "nodes"
	CSINodes       Resource = "csinodes"
	Pods           Resource = "pods"
	Volumes        Resource = "persistentvolumes"
	Claims         Resource = "persistentvolumeclaims"
	ClusterVersion Resource = "clusterversions"
	Services       Resource = "windows-services" // WMCO's ConfigMap
	Namespaces     Resource = "namespaces"
	Pools          Resource = "machineconfigpools"
	CSIDrivers     Resource = "clustercsidrivers"
	AdminGates     Resource = "admin-gates" // a ConfigMap in openshift-config-managed
	AdminAcks      Resource = "admin-acks"  // a ConfigMap in openshift-config
)

// Coverage says how much of a resource was read. Its zero value is not read.
type Coverage struct {
	// Complete: the reader saw all there are. A folder of manifests is never
	// complete for what it holds none of.
	Complete bool `json:"complete"`
	// Count is how many objects were seen.
	Count int `json:"count"`
	// Reason says why it isn't complete: "forbidden", "no such file", "not in
	// these manifests".
	Reason string `json:"reason,omitempty"`
	// Doubt is why there may be more, although nothing that was read speaks of
	// it: Complete holds for what was asked for. "" for none.
	Doubt string `json:"doubt,omitempty"`
	// Fix is the commands that get it into what is read; "" where the reader
	// knows none.
	Fix string `json:"fix,omitempty"`
	// Gather is the same of a must-gather, to be done together with others; nil
	// where Fix isn't that.
	Gather *Gather `json:"-"`
	// Told: a Problem says the same, and how to fix it.
	Told bool `json:"-"`
}

// Problem is one input that couldn't be read.
type Problem struct {
	// Where is file:line:column, or the resource and namespace.
	Where string `json:"where"`
	What  string `json:"what"`
	// Fix is what to do in words, Command a shell line that does it or shows what
	// helps.
	Fix     string `json:"fix,omitempty"`
	Command string `json:"command,omitempty"`
	// Selector is the DaemonSet whose node selector it is about; the zero value for
	// none.
	Selector Object `json:"-"`
}

// Payload is a release payload: what each driver is built from.
type Payload struct {
	// Version is the release, "4.20.3".
	Version string `json:"version"`
	// Kubernetes is the version that the payload names, "1.33.5"; "" where it
	// names none or several.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Architecture is that of the image, amd64, or of what oc wrote about it; "" where
	// none is named.
	Architecture string       `json:"-"`
	Tags         []PayloadTag `json:"tags"`
	At           Evidence     `json:"at"`
}

// PayloadTag is one image of a payload.
type PayloadTag struct {
	// Name is the payload's name, vsphere-csi-driver.
	Name  string `json:"name"`
	Image Image  `json:"image"`
	// Commit is the full source commit, "" where the payload doesn't say.
	Commit string `json:"commit,omitempty"`
	Source string `json:"source,omitempty"`
	// Kubernetes is set on the tag that carries kubernetes=<version>.
	Kubernetes string `json:"kubernetes,omitempty"`
}

// String is Kind namespace/name, or Kind name.
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// SetAside is a workload that was looked at and isn't a CSI driver's node
// plugin, with the reason.
type SetAside struct {
	Object Object   `json:"object"`
	Reason string   `json:"reason"`
	At     Evidence `json:"at"`
}

// Many counts things for people: "1 file", "1,650 documents".
func Many(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return Thousands(n) + " " + what
}

// Thousands writes a number with commas: "1,650".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Some lists the first of sorted names: "a, b, c, d, e and 3 more".
func Some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Gather is how something gets into a must-gather that lacks it. Its texts are as
// a shell reads them.
type Gather struct {
	// Inspect are words of oc adm inspect, which adds to the folder Into; In is the
	// namespace of what they name, "" for none.
	Inspect  []string
	In, Into string
	// List is a line that writes a file with all objects of a kind.
	List string
}

// GatherLines are the commands that do all of it, each once: oc adm inspect takes
// what is of one namespace, or of none, together.
func GatherLines(list []*Gather) []string {
	add := func(to []string, line string) []string {
		if line == "" || slices.Contains(to, line) {
			return to
		}
		return append(to, line)
	}
	var lines, lists, namespaces []string
	words, into := map[string][]string{}, ""
	for _, g := range list {
		lists = add(lists, g.List)
		if len(g.Inspect) > 0 && words[g.In] == nil {
			namespaces, into = append(namespaces, g.In), g.Into
		}
		for _, w := range g.Inspect {
			words[g.In] = add(words[g.In], w)
		}
	}
	for _, namespace := range namespaces {
		line := "oc adm inspect " + strings.Join(words[namespace], " ")
		if namespace != "" {
			line += " -n " + namespace
		}
		lines = append(lines, line+" --dest-dir="+into)
	}
	return append(lines, lists...)
}

// Normalize sorts every list, so that the same objects in another order print
// the same bytes.
func (inv *Inventory) Normalize() {
	slices.SortStableFunc(inv.Drivers, func(a, b Driver) int { return a.Object.Compare(b.Object) })
	for i := range inv.Drivers {
		inv.Drivers[i].normalize()
	}
	slices.SortStableFunc(inv.SetAside, func(a, b SetAside) int { return a.Object.Compare(b.Object) })
	byName(inv.Nodes, func(n Node) string { return n.Name })
	byName(inv.CSINodes, func(n CSINode) string { return n.Name })
	for i := range inv.CSINodes {
		slices.Sort(inv.CSINodes[i].Drivers)
		slices.Sort(inv.CSINodes[i].Migrated)
	}
	slices.SortStableFunc(inv.Proxies, func(a, b Proxy) int { return a.Object.Compare(b.Object) })
	for _, uses := range [][]VolumeUse{inv.Volumes, inv.Idle} {
		slices.SortStableFunc(uses, func(a, b VolumeUse) int {
			return cmp.Or(a.Pod.Compare(b.Pod), cmp.Compare(a.Volume, b.Volume), cmp.Compare(a.Claim, b.Claim))
		})
	}
	slices.SortStableFunc(inv.Leftovers, func(a, b Leftover) int { return a.Object.Compare(b.Object) })
	slices.SortStableFunc(inv.Payloads, func(a, b Payload) int { return cmp.Compare(a.Version, b.Version) })
	slices.SortStableFunc(inv.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	inv.Cluster.normalize()
}

func (d *Driver) normalize() {
	byName := func(a, b Pipe) int { return cmp.Compare(a.Name(), b.Name()) }
	slices.SortStableFunc(d.Pipes, byName)
	slices.SortStableFunc(d.Unmounted, byName)
	slices.SortStableFunc(d.Running, func(a, b Running) int { return cmp.Compare(a.Image.Reference, b.Image.Reference) })
	for i := range d.Running {
		slices.Sort(d.Running[i].Nodes)
	}
}

func (c *Cluster) normalize() {
	slices.Sort(c.AdminAcks)
	byName(c.Conditions, func(o Condition) string { return o.Type })
	byName(c.AdminGates, func(g AdminGate) string { return g.Key })
	byName(c.Pools, func(p Pool) string { return p.Name })
	byName(c.CSIDrivers, func(d ClusterCSIDriver) string { return d.Name })
	byName(c.Namespaces, func(n Namespace) string { return n.Name })
	slices.SortStableFunc(c.Services, func(a, b ServiceList) int { return cmp.Compare(a.WMCO, b.WMCO) })
	slices.SortStableFunc(c.Evidence, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
}

func byName[T any](list []T, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}

// Compare orders objects by kind, namespace and name.
func (o Object) Compare(p Object) int {
	return cmp.Or(cmp.Compare(o.Kind, p.Kind), cmp.Compare(o.Namespace, p.Namespace), cmp.Compare(o.Name, p.Name))
}
