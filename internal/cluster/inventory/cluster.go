package inventory

import (
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
)

// Cluster is what is true of the whole cluster. Empty fields weren't read.
type Cluster struct {
	// ID is ClusterVersion.spec.clusterID, by which a plan knows its cluster.
	ID string `json:"id,omitempty"`
	// Other is what shows that the cluster isn't OpenShift: "Amazon EKS"; "" for nothing.
	Other string `json:"other,omitempty"`
	// OpenShift is the newest completed release, "4.19.12".
	OpenShift string `json:"openshift,omitempty"`
	// Updating is the release of an update that isn't complete.
	Updating string `json:"updating,omitempty"`
	// Available are the releases that the cluster is offered; Conditional are
	// those of them that have known risks for it, which `oc adm upgrade` takes
	// with --allow-not-recommended only.
	Available   []string `json:"available,omitempty"`
	Conditional []Risk   `json:"conditional,omitempty"`
	// Channel is ClusterVersion.spec.channel, "eus-4.18"; Channels are those
	// that the present release is in.
	Channel  string   `json:"channel,omitempty"`
	Channels []string `json:"channels,omitempty"`
	// Conditions are the ClusterVersion's: Upgradeable, Progressing, Failing.
	Conditions []Condition `json:"conditions,omitempty"`
	// Kubernetes is the API server's version, "v1.32.9".
	Kubernetes string `json:"kubernetes,omitempty"`
	// Platform is Infrastructure.status.platformStatus.type: AWS, Azure, GCP,
	// VSphere, Nutanix, None.
	Platform string `json:"platform,omitempty"`
	// Topology is Infrastructure.status.controlPlaneTopology: HighlyAvailable,
	// SingleReplica, External.
	Topology string `json:"controlPlaneTopology,omitempty"`
	// WMCO is the operator's version, "10.19.1"; from its CSV or Deployment.
	WMCO string `json:"wmco,omitempty"`
	// CSV is the ClusterServiceVersion of the newest WMCO; nil where none was read.
	CSV *ClusterServiceVersion `json:"csv,omitempty"`
	// Services are WMCO's lists of the services that its nodes run.
	Services []ServiceList `json:"services,omitempty"`
	// AdminGates are what openshift-config-managed/admin-gates asks to be
	// acknowledged, those of other releases too: a key begins with ack- and the
	// release that it holds back.
	AdminGates []AdminGate `json:"adminGates,omitempty"`
	// AdminAcks are the keys of openshift-config/admin-acks that are "true".
	AdminAcks []string `json:"adminAcks,omitempty"`
	// Pools are the MachineConfigPools: of Linux nodes.
	Pools []Pool `json:"pools,omitempty"`
	// CSIDrivers are the ClusterCSIDrivers.
	CSIDrivers []ClusterCSIDriver `json:"csiDrivers,omitempty"`
	// Namespaces are those that were read.
	Namespaces []Namespace `json:"namespaces,omitempty"`
	Evidence   []Evidence  `json:"evidence,omitempty"`
}

// VersionFact is a version and how it is known.
type VersionFact struct {
	// Version is the zero value where it isn't Known.
	Version version.Driver `json:"version"`
	Known   bool           `json:"known"`
	// By is how it was found: tag, digest-map, user, running-image, log, annotation, release.
	By string `json:"by,omitempty"`
	// Commit is the full source commit of an image that bake driver built, as the user
	// gave it; "" for others.
	Commit string `json:"commit,omitempty"`
	// Reason says why it isn't known: "tag latest moves", "digest only".
	Reason string   `json:"reason,omitempty"`
	At     Evidence `json:"at"`
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

// Risk is a release that the cluster is offered and not recommended:
// https://github.com/openshift/enhancements/blob/master/enhancements/update/targeted-update-edge-blocking.md
type Risk struct {
	Release string `json:"release"`
	// Names are the risks' names; Message and URL are those of the first one.
	Names   []string `json:"names,omitempty"`
	Message string   `json:"message,omitempty"`
	URL     string   `json:"url,omitempty"`
	// Unknown: the cluster couldn't find out whether it is concerned.
	Unknown bool     `json:"unknown,omitempty"`
	At      Evidence `json:"at"`
}

// Risk returns the known risks of a release for this cluster; nil for none.
func (c *Cluster) Risk(release string) *Risk {
	for i := range c.Conditional {
		if c.Conditional[i].Release == release {
			return &c.Conditional[i]
		}
	}
	return nil
}

// Condition returns the ClusterVersion's condition of a type; nil for none.
func (c *Cluster) Condition(kind string) *Condition {
	for i := range c.Conditions {
		if c.Conditions[i].Type == kind {
			return &c.Conditions[i]
		}
	}
	return nil
}

// Hosted tells whether the control plane runs in another cluster (hosted control
// planes, HyperShift), from where alone it can be updated.
func (c *Cluster) Hosted() bool { return c.Topology == "External" }

// Failing is why an update doesn't go on, as the cluster says it; "" where it does.
func (c *Cluster) Failing() string {
	if f := c.Condition("Failing"); f != nil && f.Status == "True" {
		return printable.OneLine(f.Reason + ": " + f.Message)
	}
	return ""
}

// Namespace returns a namespace that was read; nil for another.
func (c *Cluster) Namespace(name string) *Namespace {
	for i := range c.Namespaces {
		if c.Namespaces[i].Name == name {
			return &c.Namespaces[i]
		}
	}
	return nil
}

// ClusterServiceVersion is how far OLM is with a version of an operator:
// https://olm.operatorframework.io/docs/concepts/crds/clusterserviceversion/
type ClusterServiceVersion struct {
	Object Object `json:"object"`
	// Phase is Succeeded for one that is installed; "" where it wasn't read.
	Phase   string   `json:"phase,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message,omitempty"`
	At      Evidence `json:"at"`
}

// Installed tells whether nothing says that it isn't.
func (c *ClusterServiceVersion) Installed() bool {
	return c == nil || c.Phase == "" || c.Phase == "Succeeded"
}

// ServiceList is one of WMCO's ConfigMaps windows-services-<version>. Its names
// say whether that WMCO brings csi-proxy:
// https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/services/services.go
type ServiceList struct {
	// WMCO is the version in the ConfigMap's name, "10.19.1-1a2b3c4".
	WMCO  string   `json:"wmco"`
	Names []string `json:"names"`
	// CSIProxy is the command line of the service csi-proxy; "" for none.
	CSIProxy string   `json:"csiProxy,omitempty"`
	At       Evidence `json:"at"`
}

// Node is a Windows node.
type Node struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Taints []Taint           `json:"taints,omitempty"`
	// Build is the Windows build of status.nodeInfo.kernelVersion: 20348 for
	// 10.0.20348.2340; 0 unknown.
	Build int `json:"build,omitempty"`
	// Revision is the number behind the build, 2340; 0 unknown.
	Revision int `json:"revision,omitempty"`
	// OSImage is "Windows Server 2022 Datacenter".
	OSImage string `json:"osImage,omitempty"`
	// Kubelet is status.nodeInfo.kubeletVersion as written.
	Kubelet string `json:"kubelet,omitempty"`
	// Runtime is status.nodeInfo.containerRuntimeVersion as written,
	// "containerd://1.7.27".
	Runtime string `json:"runtime,omitempty"`
	Ready   bool   `json:"ready"`
	// WMCO is the annotation windowsmachineconfig.openshift.io/version; ""
	// for a node that WMCO hasn't configured.
	WMCO string `json:"wmco,omitempty"`
	// DesiredWMCO is windowsmachineconfig.openshift.io/desired-version.
	DesiredWMCO string `json:"desiredWMCO,omitempty"`
	// CSIProxy is what was read of this node's own csi-proxy (its log);
	// otherwise the rules infer it from WMCO and say so.
	CSIProxy *VersionFact `json:"csiProxy,omitempty"`
	At       Evidence     `json:"at"`
}

// Taint is a node's taint.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// CSINode says which drivers are registered on a node. That one exists proves
// nothing: the kubelet makes one for every node, with no drivers.
type CSINode struct {
	Name    string   `json:"name"`
	Drivers []string `json:"drivers"`
	// TopologyKeys are the labels of the node that a driver's volumes go by.
	TopologyKeys map[string][]string `json:"topologyKeys,omitempty"`
	// Migrated are the in-tree plugins of the annotation
	// storage.alpha.kubernetes.io/migrated-plugins.
	Migrated []string `json:"migrated,omitempty"`
	At       Evidence `json:"at"`
}

// VolumeUse is one volume of one pod that runs on Windows or will.
type VolumeUse struct {
	Pod Object `json:"pod"`
	// Node is "" while the pod isn't scheduled.
	Node   string `json:"node,omitempty"`
	Volume string `json:"volume"`
	// Claim and PV are "" for inline volumes and where they weren't read.
	Claim string `json:"claim,omitempty"`
	PV    string `json:"pv,omitempty"`
	// Provisioner is the CSI driver that serves it, for an in-tree volume the
	// one that it translates to; "" where it couldn't be told (Reason).
	Provisioner string `json:"provisioner,omitempty"`
	// InTree is the in-tree plugin of the volume's own spec,
	// kubernetes.io/azure-file; "" for a CSI volume.
	InTree string `json:"inTree,omitempty"`
	Inline bool   `json:"inline,omitempty"`
	// Mounted: the pod runs, which the kubelet starts with its volumes mounted.
	Mounted bool `json:"mounted,omitempty"`
	// MigratedTo is the annotation pv.kubernetes.io/migrated-to.
	MigratedTo string `json:"migratedTo,omitempty"`
	// Affinity is the PersistentVolume's required node affinity: a node must
	// match any term.
	Affinity []Term   `json:"affinity,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	At       Evidence `json:"at"`
}

// Leftover is an in-tree PersistentVolume or a claim that an in-tree
// provisioner made.
type Leftover struct {
	Object      Object `json:"object"`
	InTree      string `json:"inTree"`
	Provisioner string `json:"provisioner"`
	MigratedTo  string `json:"migratedTo,omitempty"`
	// ProvisionedBy is what made it: pv.kubernetes.io/provisioned-by of a
	// volume, volume.kubernetes.io/storage-provisioner of a claim; "" for a
	// volume that was made by hand.
	ProvisionedBy string   `json:"provisionedBy,omitempty"`
	At            Evidence `json:"at"`
}

// Condition is one condition of the ClusterVersion.
type Condition struct {
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status  string   `json:"status"`
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message,omitempty"`
	At      Evidence `json:"at"`
}

// AdminGate is something that an update waits for until it is acknowledged:
// https://github.com/openshift/enhancements/blob/master/enhancements/update/upgrades-blocking-on-ack.md
type AdminGate struct {
	Key     string   `json:"key"`
	Message string   `json:"message,omitempty"`
	At      Evidence `json:"at"`
}

// Pool is a MachineConfigPool.
type Pool struct {
	Name   string `json:"name"`
	Paused bool   `json:"paused"`
	// Machines are the nodes of the pool, Updated those that have its present
	// configuration.
	Machines int      `json:"machines"`
	Updated  int      `json:"updated"`
	At       Evidence `json:"at"`
}

// ClusterCSIDriver says how OpenShift's storage operators treat one driver.
type ClusterCSIDriver struct {
	// Name is the driver's provisioner.
	Name string `json:"name"`
	// Management is spec.managementState: Managed, Unmanaged or Removed.
	Management string   `json:"management,omitempty"`
	At         Evidence `json:"at"`
}

// Namespace is a namespace with the labels that Pod Security admission goes by:
// https://kubernetes.io/docs/concepts/security/pod-security-admission/
type Namespace struct {
	Name string `json:"name"`
	// Enforce, Audit and Warn are levels: privileged, baseline or restricted; ""
	// for none, where the API server's default counts.
	Enforce string `json:"enforce,omitempty"`
	Audit   string `json:"audit,omitempty"`
	Warn    string `json:"warn,omitempty"`
	// Sync is the label security.openshift.io/scc.podSecurityLabelSync, "true"
	// or "false": whether OpenShift sets the levels by the SCCs that the
	// namespace's service accounts may use. "" for none.
	Sync string   `json:"sync,omitempty"`
	At   Evidence `json:"at"`
}

// Privileged tells whether HostProcess pods are let in.
func (n *Namespace) Privileged() bool { return n != nil && n.Enforce == "privileged" }

// Owner is a program that made an object and puts it back where somebody
// changes it.
type Owner struct {
	// Manager is Helm, Argo CD, Flux, OLM, ACM, Hive, or the kind of an owner
	// reference.
	Manager string `json:"manager"`
	// Kind, Namespace and Name are of what it was made from there: a Helm
	// release, an Application, a Kustomization; "" where nothing says.
	Kind      string   `json:"kind,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name,omitempty"`
	At        Evidence `json:"at"`
}
