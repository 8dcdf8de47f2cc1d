// Package inventory models what a cluster has: Linux and Windows CSI drivers,
// nodes, CSINodes, csi-proxy, and the volumes that Windows pods use. Each fact
// says where it was read.
//
// It holds the model and what every reader shares; the readers are in
// manifests, mustgather, cluster and release. It judges nothing: package skew
// does.
package inventory

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

// Evidence is where a fact was read, and the words that were there.
type Evidence struct {
	// Where is file:line, or the object and its field:
	// DaemonSet ns/name spec.template.spec.containers[0].image.
	Where string `json:"where"`
	Text  string `json:"text,omitempty"`
}

// Object names one Kubernetes object.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
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
