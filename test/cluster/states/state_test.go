package states

import (
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
)

// state is a cluster, what is asked about it, and the answer that an expert gives.
type state struct {
	name    string
	cluster *cluster
	to      string
	args    []string // further flags
	// mustGather: the objects are read from a must-gather and not from manifests;
	// without are namespaces that it doesn't hold.
	mustGather bool
	without    []string
	// spaces: the must-gather has the list of all namespaces too.
	spaces bool
	// brings is the Windows DaemonSet that an operator of the target deploys.
	brings *driver

	verdict finding.Severity
	why     string
	source  string
}

// Where the grounds are written.
const (
	asClose      = "https://github.com/openshift/enhancements/blob/master/enhancements/windows-containers/csi-proxy.md"
	hostOnly     = "https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.5.0/manifests/vanilla/vsphere-csi-driver.yaml"
	stableABI    = "https://github.com/containerd/platforms/blob/v0.2.1/platform_compat_windows.go"
	nodeInfo     = "https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/volume/csi/nodeinfomanager/nodeinfomanager.go"
	twoOfAName   = "https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/volume/csi/csi_plugin.go"
	podSecurity  = "https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline"
	labelSyncer  = "https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/authentication_and_authorization/understanding-and-managing-pod-security-admission"
	wmcoTaint    = "https://github.com/openshift/windows-machine-config-operator#windows-workloads-taints"
	wmcoHolds    = "https://github.com/openshift/windows-machine-config-operator/blob/release-4.13/controllers/controllers.go"
	wmcoReadme   = "https://github.com/openshift/windows-machine-config-operator/blob/master/README.md"
	wmcoSamples  = "https://github.com/openshift/windows-machine-config-operator/tree/master/hack/manifests/csi"
	kep1981      = "https://github.com/kubernetes/enhancements/tree/master/keps/sig-windows/1981-windows-privileged-container-support"
	ebsChangelog = "https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/CHANGELOG.md#urgent-upgrade-notes"
	adminGates   = "https://docs.redhat.com/en/documentation/openshift_container_platform/4.14/html/updating_clusters/preparing-to-update-a-cluster"
	cvoRefuses   = "https://github.com/openshift/cluster-version-operator/blob/main/docs/user/status.md#upgradeable"
	kubeletSkew  = "https://github.com/openshift/cluster-kube-apiserver-operator/blob/master/pkg/operator/kubeletversionskewcontroller/kubelet_version_skew_controller.go"
	dialsPipes   = "https://github.com/kubernetes-csi/csi-proxy/blob/v1.3.0/client/README.md"
	daemonSets   = "https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/"
	eusUpdates   = "https://docs.redhat.com/en/documentation/openshift_container_platform/4.18/html/updating_clusters/performing-a-cluster-update#control-plane-only-update"
	mustGathers  = "https://github.com/openshift/must-gather/blob/main/collection-scripts/gather"
	olmPhases    = "https://olm.operatorframework.io/docs/concepts/crds/clusterserviceversion/"
	windowsLabel = "https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-os"
)

// states are all of them.
func states() []state {
	return slices.Concat(vsphereStates(), azureStates(), awsStates(), gcpStates(), smbStates(), inTreeStates(), operatorStates(), policyStates(), updateStates(), eusStates(), inputStates(), mixedStates(), oddStates())
}
