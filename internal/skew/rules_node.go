package skew

import "github.com/winbake/winbake/internal/finding"

// nodeRules judge Windows nodes: their kubelet, WMCO and Windows itself.
var nodeRules = []rule{
	{Rule: Rule{
		ID: "NODE001", Title: "kubelet doesn't fit the API server", Severity: finding.Block, Scope: PerCluster,
		Ground: "a kubelet is never newer than the API server, and OpenShift lets it lag two minors on even releases and one on odd ones",
		Source: "https://github.com/openshift/cluster-kube-apiserver-operator/blob/main/pkg/operator/kubeletversionskewcontroller/kubelet_version_skew_controller.go",
		Text: `Compares the kubelet of every Windows node with the API server of the release, by minors.

BLOCK    the kubelet is newer, or lags more than the release allows. A cluster that isn't
         OpenShift, or whose release isn't known, gets the upstream rule: three minors, two for
         a kubelet before 1.25 (https://kubernetes.io/releases/version-skew-policy/).
INFO     on a later hop: the kubelets must have followed by then, which they do when WMCO is
         updated after each hop.
UNKNOWN  the kubelet's or the API server's version can't be told.`,
		Remedy: "update WMCO, which updates the kubelets, before the control plane leaves them behind; finish the control plane's update where they are newer",
		Needs:  needsNodes,
	}, cluster: kubeletSkew},
	{Rule: Rule{
		ID: "NODE002", Title: "no WMCO for the release, or another's", Severity: finding.Unknown, Scope: PerCluster,
		Ground: "a release of WMCO is for one minor of OpenShift and serves the next one while the cluster updates",
		Source: "https://github.com/openshift/windows-machine-config-operator#readme",
		Text: `Compares WMCO's version, from its CSV or the nodes' annotation, with the releases of the catalog.

WARN     no release of WMCO is known for the target, or the one that runs is neither for this
         minor nor for the one before it.
INFO     on a later hop: WMCO must have followed by then.
UNKNOWN  the version isn't one that the catalog knows.

Between two even releases WMCO may be uninstalled; it is installed again when the control plane is
at the target.`,
		Remedy: "update WMCO after each hop to its release for the cluster's minor",
		Needs:  needsNodes,
	}, cluster: operatorSkew},
	{Rule: Rule{
		ID: "NODE003", Title: "no image of the driver for the node's Windows", Severity: finding.Block, Scope: PerDriver,
		Ground: "containerd takes an image of the host's build; from Windows Server 2022 on also of older builds down to 20348",
		Source: "https://github.com/containerd/platforms/blob/v0.2.1/platform_compat_windows.go",
		Text: `Compares the Windows build of every node in a driver's scope with the builds for which its
project makes images of that line. Windows Server 2019 (17763) runs images of its own build alone;
Windows Server 2022 (20348) and what follows it run images from 20348 up to their own build, so
2025 (26100) runs images of 2022. containerd before 1.6.23 and 1.7.6 wants the very build; from
2.2 on it wants images of 2025 or newer on what follows 2025.
HostProcess containers run on any build and aren't looked at.

BLOCK  the build is one with a name, and there is no image for it.
WARN   the node's build or the line's images aren't known, or the build is another.`,
		Remedy: "take the HostProcess manifest, or a version that has images of that build",
		Needs:  needsScope,
	}, driver: windowsBuild, lacks: true, starts: true},
}
