package csidriver

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/winbake/winbake/internal/manifests/object"
	"github.com/winbake/winbake/internal/version"
)

// Mode is how the driver reaches the node's disks and shares.
type Mode string

// The modes.
const (
	// Auto is what the project's own manifests use at the version, or the other
	// one where only that runs on the Windows build.
	Auto Mode = "auto"
	// Pipes is a container of its own that dials csi-proxy.
	Pipes Mode = "pipes"
	// HostProcess is a container that runs on the node itself.
	HostProcess Mode = "hostprocess"
)

// Modes lists them for a command line.
func Modes() []string { return []string{string(Auto), string(Pipes), string(HostProcess)} }

// OperatorNamespace is where OpenShift's own CSI drivers run, with their
// service accounts. The cluster's storage operator keeps it, with Pod Security
// at privileged: openshift/cluster-storage-operator,
// manifests/02_csi_driver_operators_namespace.yaml.
const OperatorNamespace = "openshift-cluster-csi-drivers"

// Options say what is to be written.
type Options struct {
	// Driver is the catalog's name for it: vsphere, azure-disk.
	Driver string
	// For is the release. Without a patch, the release's newest driver.
	For version.OpenShift
	// Mode; "" is Old's where the version still has it, else Auto.
	Mode Mode
	// Windows is the nodes' version, "2022"; "" is that.
	Windows string
	// Namespace of the DaemonSet; "" is OperatorNamespace. Another one gets a
	// service account and rights of its own.
	Namespace string
	// Registry takes the place of every image's host, and the rest of the
	// repository's path stays: mirror.example.com:5000/ocp; "" for none.
	Registry string
	// Image, Registrar and Probe take the place of the project's images of the
	// driver, the node-driver-registrar and the livenessprobe: references by digest,
	// as bake driver prints them; "" for none. With Image the version is the one that
	// the release ships, published or not.
	Image, Registrar, Probe string
	// Digests pins images; nil leaves tags alone.
	Digests *Digests
	// Old is the DaemonSet that is to be replaced, nil for none. What its admin set
	// in it is kept, as far as no version of the driver has a say in that.
	Old *Old
}

// Args are the words behind `bake manifests csi-driver` that give the same options,
// but for --out. from is the file that Old's DaemonSet is in, catalogs those of the
// catalog's rows. What Old decides needs no flag.
func (o *Options) Args(from string, catalogs []string) []string {
	args := []string{o.Driver}
	if o.Old != nil {
		args = []string{"--upgrade-from", from}
	}
	args = append(args, "--for", o.For.String())
	for _, flag := range [][2]string{{"mode", string(o.Mode)}, {"windows", o.Windows}, {"namespace", o.Namespace}, {"registry", o.Registry}, {"image", o.Image}, {"registrar-image", o.Registrar}, {"probe-image", o.Probe}, {"digest-file", o.Digests.file()}} {
		if flag[1] != "" {
			args = append(args, "--"+flag[0], flag[1])
		}
	}
	for _, file := range catalogs {
		args = append(args, "--catalog", file)
	}
	return args
}

// Folder is what is written.
type Folder struct {
	// Title is the driver's, Version the upstream version that was chosen.
	Title   string
	Version version.Driver
	// HostProcess is the mode that was chosen.
	HostProcess bool
	// Files in the order that they are to be applied in.
	Files      []File
	definition *definition
	daemonSet  *appsv1.DaemonSet
	// Notes are what the admin should know: one sentence each.
	Notes []string
	// kept is what it has of Options.Old.
	kept []Kept
}

// File is one object and what it is for.
type File = object.File
