package inventory

// Driver is a DaemonSet that runs a CSI driver's node plugin.
type Driver struct {
	Object Object `json:"object"`
	// OS is linux, windows, or "" where nothing says (then it is UNKNOWN).
	OS string `json:"os"`
	// Provisioner is the CSI driver's name as the kubelet will know it,
	// csi.vsphere.vmware.com; "" where it can't be told.
	Provisioner string `json:"provisioner"`
	// Line is the catalog's name of the driver, "vsphere"; "" for a driver
	// that the catalog doesn't know.
	Line string `json:"line,omitempty"`
	// Container is the name of the container that runs the driver.
	Container string `json:"container,omitempty"`
	// Call is how that container is started, as it is written.
	Call    Call        `json:"-"`
	Image   Image       `json:"image"`
	Version VersionFact `json:"version"`
	// HostProcess: the driver's container runs as a HostProcess container.
	HostProcess bool `json:"hostProcess"`
	// HostProcessFlag is the value of the driver's own flag for it
	// (--enable-windows-host-process, --windows-host-process); nil: not given,
	// or HostProcessFlagReason says why it isn't known.
	HostProcessFlag       *bool  `json:"hostProcessFlag,omitempty"`
	HostProcessFlagReason string `json:"hostProcessFlagReason,omitempty"`
	// ForeignFlags are given and belong to other drivers: no version of this
	// one knows them.
	ForeignFlags []string `json:"foreignFlags,omitempty"`
	// Pipes are the csi-proxy pipes that the driver's container mounts.
	Pipes []Pipe `json:"pipes,omitempty"`
	// Unmounted are the pipes that the pod declares as volumes and the driver's
	// container doesn't mount, or not under the name that they have on the node.
	Unmounted []Pipe `json:"unmounted,omitempty"`
	// Siblings are the pod's other containers with an image of the same repository: Azure
	// Disk's init container.
	Siblings []Sibling `json:"siblings,omitempty"`
	// Registrar is the node-driver-registrar next to the driver.
	Registrar *Sidecar `json:"registrar,omitempty"`
	// Paths are where its pods have sockets and folders.
	Paths Paths `json:"-"`
	// ServiceAccount is what the pods run as; "" is default.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Scheduling decides which nodes the pods run on.
	Scheduling Scheduling `json:"scheduling"`
	// Partial says why its manifest can't be whole: it is cut off, or a patch.
	// What isn't in it may be in the rest. "" for a whole one.
	Partial string `json:"partial,omitempty"`
	// Selector is the DaemonSet's own, which can't be changed, as kubectl prints
	// it: "app=csi-node,os=windows".
	Selector string `json:"selector,omitempty"`
	// Strategy is RollingUpdate or OnDelete. MaxUnavailable is of the first, a
	// number or a share: "1", "10%". Both are the API server's defaults where
	// the manifest leaves them out.
	Strategy       string `json:"strategy"`
	MaxUnavailable string `json:"maxUnavailable,omitempty"`
	// Owners are the programs that made the DaemonSet and would undo a change,
	// first the one that the others work for.
	Owners []Owner `json:"owners,omitempty"`
	// Deleting: it has a deletionTimestamp, and is going.
	Deleting bool `json:"deleting,omitempty"`
	// Rollout is the DaemonSet's status; nil in a manifest that has none.
	Rollout *Rollout `json:"rollout,omitempty"`
	// Running are the images that the pods really run, by imageID.
	Running []Running `json:"running,omitempty"`
	// Broken are the pods that can't become ready by waiting.
	Broken []Broken `json:"broken,omitempty"`
	// OperatorManaged: an operator of OpenShift's own made and owns it.
	OperatorManaged bool `json:"operatorManaged,omitempty"`
	// Evidence holds where provisioner, version, mode and OS were read.
	Evidence []Evidence `json:"evidence"`
}

// Call is the command line of a container, and the JSON pointer of that container
// in its object.
type Call struct {
	At            string
	Command, Args []string
}

// Paths are the places of a Windows driver's pod that have to be the same on the node;
// nil where the manifest doesn't say one.
type Paths struct {
	// Endpoint is the socket that the driver serves, Address where its registrar
	// asks it, Registered what the registrar tells the kubelet.
	Endpoint, Address, Registered *Path
	// Registry is the folder into which the registrar puts its own socket.
	Registry *Path
	// Root is what the driver sees as the kubelet's folder.
	Root *Path
	// Needed are the hostPaths that must be there before a pod starts.
	Needed []Path
}

// KubeletRoot is the kubelets' --root-dir on Windows nodes, as Path.Node has it.
const KubeletRoot = "c:/var/lib/kubelet"

// Path is a path as it is written, and on the node: in lower case, with the drive and
// single forward slashes, c:/csi/csi.sock; "" where no volume of the node holds it.
type Path struct {
	Text, Node string
	// Mount is the container's mount that it is below, where the node has that folder
	// under another path.
	Mount string
	At    Evidence `json:"-"`
}

// Mode is how the driver reaches Windows storage; "" where that can't be told.
func (d *Driver) Mode() string {
	switch {
	case d.OS != "windows":
		return ""
	case d.HostProcess:
		return "HostProcess"
	case len(d.Pipes) > 0:
		return "csi-proxy"
	case d.Partial != "":
		return ""
	}
	return "none"
}

// Image is a container image reference, taken apart.
type Image struct {
	Reference string `json:"reference"`
	// Repository is the reference without tag and digest.
	Repository string `json:"repository,omitempty"`
	Tag        string `json:"tag,omitempty"`
	// Digest is sha256:<hex>.
	Digest string `json:"digest,omitempty"`
}

// Sibling is another container of the driver's pod.
type Sibling struct {
	Container string `json:"container"`
	Image     Image  `json:"image"`
}

// Pipe is one csi-proxy pipe: \\.\pipe\csi-proxy-<Group>-<Version>.
type Pipe struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	// Container is the one that mounts an Unmounted pipe; "" for none.
	Container string   `json:"container,omitempty"`
	At        Evidence `json:"at"`
}

// Name is group-version, disk-v1.
func (p Pipe) Name() string { return p.Group + "-" + p.Version }

// Sidecar is a helper container next to the driver.
type Sidecar struct {
	Container string      `json:"container"`
	Image     Image       `json:"image"`
	Version   VersionFact `json:"version"`
	// Probe is the command of its liveness probe; nil: it has none, or one that
	// runs no command.
	Probe []string `json:"probe,omitempty"`
}

// Rollout is how far a DaemonSet has come.
type Rollout struct {
	Desired int32 `json:"desired"`
	Ready   int32 `json:"ready"`
	Updated int32 `json:"updated"`
	// Observed: the status is of the current generation.
	Observed bool `json:"observed"`
}

// Broken is why pods of a DaemonSet aren't ready: the state of one of their containers.
type Broken struct {
	Container string `json:"container"`
	// Reason is CrashLoopBackOff, ImagePullBackOff, CreateContainerError or the like.
	Reason string   `json:"reason"`
	Nodes  []string `json:"nodes"`
}

// Running is one image that pods of a DaemonSet run.
type Running struct {
	// Image is the digest reference of status.containerStatuses[].imageID.
	Image Image    `json:"image"`
	Nodes []string `json:"nodes"`
}

// Proxy is a workload that runs csi-proxy itself.
type Proxy struct {
	Object     Object      `json:"object"`
	Container  string      `json:"container"`
	Image      Image       `json:"image"`
	Version    VersionFact `json:"version"`
	Scheduling Scheduling  `json:"scheduling"`
	At         Evidence    `json:"at"`
}
