package skew

import "github.com/winbake/winbake/internal/finding"

const (
	kep1981  = "https://github.com/kubernetes/enhancements/tree/master/keps/sig-windows/1981-windows-privileged-container-support"
	vsphere  = "https://github.com/kubernetes-sigs/vsphere-csi-driver/pull/3164"
	azureTag = "https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/master/docs/install-driver-on-windows.md"
)

// hostProcessRules judge how a driver's container reaches the node.
var hostProcessRules = []rule{
	{Rule: Rule{
		ID: "HP001", Title: "driver needs a HostProcess container", Severity: finding.Block, Scope: PerDriver,
		Ground: "from that version on the driver has no client of csi-proxy left",
		Source: vsphere,
		Text: `BLOCK where a Windows driver is of a line that works only as a HostProcess container, and its
pod isn't one: vSphere from 3.5.0 on. It happens where the image tag was raised and the rest
of the manifest stayed. UNKNOWN where the driver has such a line, the pod isn't HostProcess,
and the version can't be told.`,
		Remedy: "apply the whole Windows node DaemonSet of that version; the tag alone doesn't do",
		Needs:  needsDrivers,
	}, driver: hostProcessRequired, lacks: true},
	{Rule: Rule{
		ID: "HP002", Title: "HostProcess container mounts csi-proxy's pipes", Severity: finding.Block, Scope: PerDriver,
		Ground: "named pipe mounts aren't supported in HostProcess containers",
		Source: kep1981,
		Text: `BLOCK where the driver's container is a HostProcess container, and it or another container of
the pod mounts a named pipe of csi-proxy. The two ways to reach the node exclude each other.`,
		Remedy: "remove the pipe mounts and their volumes",
		Needs:  needsDrivers,
	}, driver: hostProcessPipes, starts: true},
	{Rule: Rule{
		ID: "HP003", Title: "HostProcess flag and pod don't agree", Severity: finding.Block, Scope: PerDriver,
		Ground: "the flag decides whether the driver works on the node itself or dials csi-proxy",
		Source: "https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/master/pkg/azuredisk/azuredisk_option.go",
		Text: `BLOCK where a HostProcess pod of a driver that has a flag for it doesn't set the flag, where a
pod that isn't HostProcess sets it, and where the version doesn't know the flag, or it is
another driver's: the driver ends at an unknown flag. UNKNOWN where that depends on a version
that can't be told, or on a value that a ConfigMap or Secret sets.

The flags are --enable-windows-host-process (Azure Disk, Azure File, SMB) and
--windows-host-process (EBS).`,
		Remedy: "make flag and pod agree: the flag in a HostProcess pod of a version that has it, and nowhere else",
		Needs:  needsDrivers,
	}, driver: hostProcessFlag, lacks: true, starts: true},
	{Rule: Rule{
		ID: "HP004", Title: "image is for the other kind of container", Severity: finding.Warn, Scope: PerDriver,
		Ground: "some projects publish an image of its own for HostProcess, with a tag that ends in -windows-hp",
		Source: azureTag,
		Text: `WARN where an image with the HostProcess suffix runs in a pod that isn't HostProcess, and where
a HostProcess pod runs the plain image of a version that has one with the suffix. Goes by the
tag: a digest or a renamed image doesn't say. WARN too where a HostProcess pod runs a version
that doesn't support HostProcess.`,
		Remedy: "take the image that the pod's kind needs",
		Needs:  needsDrivers,
	}, driver: hostProcessImage, lacks: true, starts: true},
	{Rule: Rule{
		ID: "HP005", Title: "the driver that fits is a HostProcess one", Severity: finding.Warn, Scope: PerDriver,
		Ground: "the Windows version closest to the target needs another manifest and other rights than the present one",
		Source: vsphere,
		Text: `Advance notice. The Windows driver uses csi-proxy's pipes.

WARN  the line of the Linux version at the target must run as HostProcess.
INFO  it does so by default from this update on; pipes go on working.

It breaks nothing yet. The next Windows version isn't a change of a tag: it needs the whole
manifest, a namespace whose Pod Security level is privileged, and a service account that may
use the SCC privileged.`,
		Remedy: "prepare the project's HostProcess manifest and the rights that it needs, and deploy it after the update",
		Needs:  needsDrivers,
	}, driver: hostProcessCrossing},
}
