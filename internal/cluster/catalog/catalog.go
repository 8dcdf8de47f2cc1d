// Package catalog holds the dated facts that skew is judged by: which driver
// versions an OpenShift release ships, what each driver line needs on Windows,
// what each csi-proxy release serves, which csi-proxy each WMCO release
// carries and what it demands of its payload, and what is known not to work
// together.
//
// The data are YAML files beside this package, embedded; every row has its
// evidence. The package answers questions about them and judges nothing. It
// reads no file but an overlay that it is handed, and no network.
package catalog

// Catalog is the whole of it. Load checks what it reads: references, ranges,
// duplicates, evidence.
type Catalog struct {
	APIVersion string `json:"apiVersion"`     // winbake.dev/catalog/v1
	Kind       string `json:"kind,omitempty"` // Catalog; files needn't say it
	// AsOf is the day that the facts were looked at, 2026-08-31.
	AsOf     string            `json:"asOf"`
	Drivers  []Driver          `json:"drivers"`
	Releases []Release         `json:"releases"`
	CSIProxy []CSIProxyRelease `json:"csiProxy"`
	WMCO     []WMCORelease     `json:"wmco"`
	// Operators and Payload are what WMCO demands below /payload.
	Operators    []Operator        `json:"operators"`
	Payload      []PayloadFile     `json:"payload"`
	Incompatible []Incompatibility `json:"incompatible"`
	Migration    []Migration       `json:"migration"`
	Gates        []Gate            `json:"gates"`
	// Windows, Containerd and ContainerdLines are what is below the drivers on a node.
	Windows         []WindowsBuild   `json:"windows,omitempty"`
	Containerd      []Containerd     `json:"containerd,omitempty"`
	ContainerdLines []ContainerdLine `json:"containerdLines,omitempty"`
	// Builds are the Windows programs that can be built from OpenShift's forks.
	Builds []Build `json:"builds,omitempty"`
	// Commits maps a payload source commit to an upstream version.
	Commits []Commit `json:"commits,omitempty"`
	// Digests maps an image digest to a driver version; empty as shipped,
	// filled by overlays.
	Digests []Digest `json:"digests,omitempty"`
}

// Evidence is where a fact comes from.
type Evidence struct {
	// Source is a URL, or repository@ref:path.
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`
}

// Driver is a CSI driver that has a node plugin for Windows, or one whose
// Linux side OpenShift ships.
type Driver struct {
	// Name is the catalog's own: aws-ebs, azure-disk, azure-file, gcp-pd,
	// vsphere, smb, secrets-store, trident.
	Name        string `json:"name" check:"text"`
	Title       string `json:"title" check:"text"`
	Provisioner string `json:"provisioner" check:"text"`
	// InTree is the in-tree plugin it replaces, kubernetes.io/azure-disk.
	InTree string `json:"inTree,omitempty"`
	// Platform is Infrastructure's platform type, "VSphere"; "" for any.
	Platform string `json:"platform,omitempty"`
	// Payload is the tag in a release payload, vsphere-csi-driver; "" for a
	// driver whose Linux side isn't in the payload.
	Payload string `json:"payload,omitempty"`
	// OLM: an operator from OperatorHub ships the Linux side, so its version
	// moves with that operator and not with the cluster.
	OLM bool `json:"olm,omitempty"`
	// Images are repository suffixes that name this driver and no other,
	// kubernetes-csi/azuredisk-csi. A suffix that several drivers share
	// ("driver") isn't listed.
	Images []string `json:"images,omitempty"`
	// Folders are names of its folder below the kubelet's plugins, where that
	// isn't the provisioner: csi-secrets-store.
	Folders []string `json:"folders,omitempty"`
	// Containers are names of the container that runs it.
	Containers []string `json:"containers,omitempty"`
	// DaemonSets are names of DaemonSets as projects and OpenShift ship them.
	DaemonSets []string `json:"daemonSets,omitempty"`
	// Published is where the project puts what an admin deploys. Rows of one
	// kind, HostProcess or not, don't overlap; versions that none holds weren't
	// seen.
	Published []Publication `json:"published,omitempty"`
	// Lines are ranges of versions that behave alike, oldest first, without
	// gaps or overlaps from the first version that runs on Windows.
	Lines    []Line     `json:"lines,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

// HostProcess is whether a line can, or must, run as a HostProcess container.
type HostProcess string

// The values of HostProcess.
const (
	HostProcessNone      HostProcess = "none"      // csi-proxy (or nothing) only
	HostProcessOptional  HostProcess = "optional"  // both; manifests use csi-proxy
	HostProcessDefault   HostProcess = "default"   // both; manifests use HostProcess
	HostProcessMandatory HostProcess = "mandatory" // no csi-proxy client left
)

// Line is a range of versions of one driver.
type Line struct {
	// From is the first version, Until the first that isn't in it; "" open.
	// Pre-releases belong where their release belongs.
	From  string `json:"from" check:"version"`
	Until string `json:"until,omitempty" check:"version"`
	// API are the csi-proxy groups that the driver dials.
	API         []APIUse    `json:"api,omitempty"`
	HostProcess HostProcess `json:"hostProcess" oneOf:"none optional default mandatory"`
	// Flag is the argument that must be given in a HostProcess pod and mustn't
	// in another, --enable-windows-host-process; "" for none.
	Flag string `json:"flag,omitempty" check:"flag"`
	// HostProcessNeedsProxy: a HostProcess pod of this line dials csi-proxy all
	// the same. It sees the node's pipes without mounting them.
	HostProcessNeedsProxy bool `json:"hostProcessNeedsProxy,omitempty"`
	// ImageSuffix is the tag suffix of a HostProcess image, windows-hp; "" where
	// one image serves both.
	ImageSuffix string `json:"imageSuffix,omitempty"`
	// Builds are the Windows builds that process-isolated images exist for:
	// 17763, 20348, 26100. Empty: not known.
	Builds []int `json:"builds,omitempty"`
	// WMIC: the driver needs csi-proxy's GetBIOSSerialNumber, which ran wmic
	// before csi-proxy 1.3.0.
	WMIC bool `json:"wmic,omitempty"`
	// RunsWMIC: the driver runs wmic itself, whatever csi-proxy there is.
	RunsWMIC bool `json:"runsWMIC,omitempty"`
	// Unreleased: at AsOf there were only pre-releases of it, so nobody can be
	// told to deploy it.
	Unreleased bool `json:"unreleased,omitempty"`
	// Supported: the project still supports the line (at AsOf). Where no line
	// of a driver is, the project doesn't say what it supports.
	Supported bool       `json:"supported,omitempty"`
	Evidence  []Evidence `json:"evidence"`
}

// APIUse is one csi-proxy API group that a driver dials.
type APIUse struct {
	// Group is disk, filesystem, smb, volume, system or iscsi.
	Group string `json:"group" check:"group"`
	// Versions are tried in this order; the first that answers is used. One
	// that is missing with no other left breaks the driver.
	Versions []string `json:"versions" check:"api"`
}

// Certainty is how well a driver version in a release is known.
type Certainty string

// The certainties, best first.
const (
	Exact   Certainty = "exact"   // by source commit or a tree without a difference
	Range   Certainty = "range"   // by z-stream range, its edges may be off by one
	Default Certainty = "default" // one version for the whole minor
)

// Release is an OpenShift minor.
type Release struct {
	// OpenShift is the minor, "4.20".
	OpenShift  string `json:"openshift" check:"minor"`
	Kubernetes string `json:"kubernetes" check:"kubernetes"` // "1.33"
	// Next are the minors that an update can go to; 4.22 goes to 5.0.
	Next []string `json:"next,omitempty" check:"release"`
	// NoChannel: the update graph offers it to nobody yet.
	NoChannel bool `json:"noChannel,omitempty"`
	// KubeletSkew is how many Kubernetes minors a kubelet may lag behind this
	// release's API server by OpenShift's own rule: 2 even, 1 odd.
	KubeletSkew int `json:"kubeletSkew"`
	// Drivers are the Linux drivers that it ships, by Driver.Name.
	Drivers map[string][]Shipped `json:"drivers"`
	// WindowsManaged are drivers whose Windows DaemonSet an operator of
	// OpenShift deploys itself from this release on.
	WindowsManaged []string `json:"windowsManaged,omitempty" check:"driver"`
	// WindowsProposed names drivers of which that is proposed alone: no release
	// payload and no operator's tree has it. nil for none.
	WindowsProposed *Proposal  `json:"windowsProposed,omitempty"`
	Evidence        []Evidence `json:"evidence"`
}

// Proposal is what somebody suggests for a release. It is no fact.
type Proposal struct {
	Drivers []string `json:"drivers" check:"driver"`
	Source  string   `json:"source" check:"text"`
}

// Shipped is one driver version inside a release. Several rows of a driver
// follow each other in z-stream order.
type Shipped struct {
	// Version is the upstream version, "3.5.0"; "" unknown.
	Version string `json:"version" check:"version,optional"`
	// FromZ and UntilZ are the first and last patch of the minor that have it;
	// nil: open. Neither: the whole minor.
	FromZ  *int `json:"fromZ,omitempty"`
	UntilZ *int `json:"untilZ,omitempty"`
	// FuzzyZ: the edges may be off by so many patches; versions inside that
	// distance of an edge are ambiguous.
	FuzzyZ    int       `json:"fuzzyZ,omitempty"`
	Certainty Certainty `json:"certainty" oneOf:"exact range default"`
	// Head is the day of the last commit of the branch, 2025-09-29, where the row is
	// what that shows and not what a release is known to hold. It may be long before
	// AsOf.
	Head     string     `json:"head,omitempty" check:"head"`
	Note     string     `json:"note,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

// CSIProxyRelease is one csi-proxy version, or a build between two.
type CSIProxyRelease struct {
	Version string `json:"version" check:"version"` // "1.1.3", or git describe "1.1.3-34-g5cb6e2d"
	Commit  string `json:"commit,omitempty" check:"commit"`
	Date    string `json:"date" check:"day"`
	// Groups are the pipes that it serves, disk-v1.
	Groups []string `json:"groups" check:"pipe"`
	// Flags are its own flags, besides klog's.
	Flags []string `json:"flags"`
	// WMIC: GetBIOSSerialNumber runs wmic.
	WMIC     bool       `json:"wmic"`
	CVEs     []string   `json:"cves,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

// WMCORelease is a range of WMCO versions.
type WMCORelease struct {
	From  string `json:"from" check:"wmco"`            // "10.19.0"
	Until string `json:"until,omitempty" check:"wmco"` // first that isn't in it
	// OpenShift is the minor it is for.
	OpenShift string `json:"openshift" check:"release"`
	// CSIProxy is a CSIProxyRelease.Version; "" for a WMCO that ships none.
	CSIProxy string `json:"csiProxy" check:"proxy,optional"`
	// Containerd is the one in the payload of the newest version of the range; ""
	// where nobody looked.
	Containerd string     `json:"containerd,omitempty" check:"version"`
	Evidence   []Evidence `json:"evidence"`
}

// Incompatibility is a pair of driver versions that is documented not to work.
type Incompatibility struct {
	ID     string `json:"id" check:"text"`
	Driver string `json:"driver" check:"driver"`
	// Linux and Windows are constraints over versions, ">=1.33.0".
	Linux   string `json:"linux" check:"range"`
	Windows string `json:"windows" check:"range"`
	// Severity is BLOCK or WARN. UnlessNodeLabel lowers it to WARN where all
	// Windows nodes carry that label.
	Severity        string     `json:"severity" oneOf:"BLOCK WARN"`
	UnlessNodeLabel string     `json:"unlessNodeLabel,omitempty"`
	Why             string     `json:"why" check:"text"`
	Remedy          string     `json:"remedy" check:"text"`
	When            string     `json:"when" oneOf:"before during after"` // before | during | after
	Evidence        []Evidence `json:"evidence"`
}

// MigrationState is what a release does with an in-tree plugin's volumes.
type MigrationState string

// The states of CSI migration.
const (
	MigrationOff     MigrationState = "off"     // in-tree serves them; tech preview at most
	MigrationOptIn   MigrationState = "opt-in"  // new clusters only, or by a switch
	MigrationOn      MigrationState = "on"      // CSI serves them
	MigrationRemoved MigrationState = "removed" // the in-tree code is gone
)

// Migration is the state of one in-tree plugin in one release, on Linux and on
// Windows nodes.
type Migration struct {
	InTree    string         `json:"inTree" check:"plugin"`
	OpenShift string         `json:"openshift" check:"release"`
	Linux     MigrationState `json:"linux" oneOf:"off opt-in on removed"`
	Windows   MigrationState `json:"windows" oneOf:"off opt-in on removed"`
	Note      string         `json:"note,omitempty"`
	Evidence  []Evidence     `json:"evidence"`
}

// Gate is an admin acknowledgement that an update waits for.
type Gate struct {
	Key      string     `json:"key" check:"ack"` // ack-4.12-kube-126-vsphere-migration-in-4.14
	From     string     `json:"from" check:"release"`
	To       string     `json:"to" check:"release"`
	Driver   string     `json:"driver,omitempty" check:"driver"`
	Applies  string     `json:"applies" check:"text"` // when it is asked for, in words
	Evidence []Evidence `json:"evidence"`
}

// Commit is a source commit of a fork and the upstream version of its tree.
type Commit struct {
	Driver  string `json:"driver" check:"driver"`
	Commit  string `json:"commit" check:"commit"` // full, or at least 12 digits
	Version string `json:"version" check:"version"`
	// OpenShift is the release branch that it stands on.
	OpenShift string `json:"openshift,omitempty" check:"release"`
	Date      string `json:"date,omitempty"`
}

// Digest is an image digest and the driver version in it.
type Digest struct {
	Digest  string `json:"digest" check:"digest"`
	Driver  string `json:"driver" check:"driver"`
	Version string `json:"version" check:"version"`
	Variant string `json:"variant,omitempty"`
}

// shortestCommit is how many digits a commit must have to be looked up: fewer
// could be another's.
const shortestCommit = 12

// When is the time at which an operator first demands a file of its payload.
type When string

// Operator is where the operator of one minor says what it demands below
// /payload. Both are sources as Evidence has them.
type Operator struct {
	OpenShift string `json:"openshift" check:"release"`
	Start     string `json:"start" check:"lines"`
	Configure string `json:"configure" check:"lines"`
}

// PayloadFile is a file that operators demand below /payload. The parts of the
// format, sha256sum and generated/, aren't such files.
type PayloadFile struct {
	// Path is relative to /payload, with slashes and without .tar.gz.
	Path string `json:"path" check:"payload file"`
	When When   `json:"when" oneOf:"start configure"`
	// From is the first minor that demands it, Until the first that doesn't; ""
	// open.
	From  string `json:"from" check:"release"`
	Until string `json:"until,omitempty" check:"release"`
	// Platforms are those of Infrastructure on which it is demanded, "AWS"; empty:
	// all.
	Platforms []string `json:"platforms,omitempty" check:"platform"`
	// Nodes are the platforms whose nodes get a copy; empty: all.
	Nodes    []string   `json:"nodes,omitempty" check:"platform"`
	Evidence []Evidence `json:"evidence"`

	// Source is the list that names the file, and Effect what the operator does
	// when the file isn't there. PayloadFiles sets both.
	Source string `json:"-"`
	Effect string `json:"-"`
}

// Publication is what a project publishes for a range of a driver's versions:
// the manifest of its Windows node DaemonSet, and the image.
type Publication struct {
	// From is the first version, Until the first that isn't in it; "" open.
	From  string `json:"from" check:"version"`
	Until string `json:"until,omitempty" check:"version"`
	// HostProcess: it is of the HostProcess variant, otherwise of the one for
	// csi-proxy, or of the only one.
	HostProcess bool `json:"hostProcess,omitempty"`
	// Manifest is the URL of a file that holds the DaemonSet, maybe beside other
	// objects; {{version}} means the version, 3.5.0. "unknown": where it
	// stands wasn't seen. One of Manifest, Render and Deploys is given.
	Manifest string `json:"manifest,omitempty" check:"manifest"`
	// Render is the command that writes the manifest to its output, of a project
	// that publishes none.
	Render string `json:"render,omitempty"`
	// Deploys names what brings the DaemonSet where admins apply no manifest.
	Deploys string `json:"deploys,omitempty"`
	// SetImage: the file names another image than that of its version.
	SetImage bool `json:"setImage,omitempty"`
	// Missing are versions of the range whose tag lacks the file.
	Missing []string `json:"missing,omitempty" check:"version"`
	// Repository holds the image of each version, registry.k8s.io/csi-vsphere/driver;
	// "" isn't known. Also are other repositories that the project has it in.
	Repository string   `json:"repository,omitempty" check:"repository"`
	Also       []string `json:"also,omitempty" check:"repository"`
	// Former are repositories that the project had it in and that are gone.
	Former []string `json:"former,omitempty" check:"repository"`
	// Unsure: not every version's image is known to stand in Repository.
	Unsure   bool       `json:"unsure,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func filter[T any](list []T, is func(*T) bool) (found []T) {
	for i := range list {
		if is(&list[i]) {
			found = append(found, list[i])
		}
	}
	return found
}
