package skew

import "github.com/winbake/winbake/internal/finding"

const (
	releaseInfo = "https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/cli_tools/openshift-cli-oc"
	pluto64     = "https://github.com/FairwindsOps/pluto/issues/64"
)

// dataRules judge what the other rules had to go by.
var dataRules = []rule{
	{Rule: Rule{
		ID: "DATA001", Title: "a release or its drivers aren't known well enough", Severity: finding.Unknown, Scope: PerCluster,
		Ground: "which driver version a release ships isn't a function of its minor: drivers were rebased inside a minor and rebases were taken back",
		Source: releaseInfo,
		Text: `Says how well the releases on the way are known.

UNKNOWN  the cluster's release isn't known; the target, or an update to it, isn't in the
         catalog; the catalog doesn't know which driver version a release ships.
WARN     several driver versions may hold, since the patch isn't named or stands near a rebase,
         and they differ in minor or behaviour; the version is the head of a release branch; the
         payload names a source commit that the catalog doesn't know; a payload was given that
         is of no release on the way; --from is another minor than what was read; a manifest has
         a Linux DaemonSet of your own of a driver that OpenShift brings, in another version, and
         no status shows that it runs.
INFO     the same on the way to the target or without a difference; an update that isn't
         complete; a target that the cluster already runs; a catalog older than 180 days; --from
         is of another Kubernetes than an API server that isn't OpenShift's.

A payload is given so: oc adm release info --commits -o json IMAGE > release.json, and --release
release.json.`,
		Remedy: "give the payload of the release with --release, or name the release to its patch",
	}, driver: driverData, cluster: releaseData},
	{Rule: Rule{
		ID: "DATA002", Title: "something couldn't be read", Severity: finding.Unknown, Scope: PerCluster,
		Ground: "what wasn't read must never pass for harmless",
		Source: pluto64,
		Text: `UNKNOWN  a kind of object that rules need wasn't read, or only in part; an input couldn't be read;
         no Windows CSI driver was found among manifests, or no DaemonSet at all in a cluster; a
         Windows node has a driver registered whose DaemonSet wasn't read; a pod registers two
         drivers, of which one is judged.
WARN     a must-gather without a list of the cluster's namespaces, where all that it mentions were
         gathered, and the update moves in-tree volumes to CSI.
INFO     the same without such a move, or without a Windows node; the cluster has DaemonSets, and
         none of a Windows CSI driver.

With --static, for manifests without a cluster behind them, kinds that aren't there are listed
as not evaluated and are no finding.

A must-gather holds the namespaces of OpenShift's operators and few others. Those of volumes it
mentions; that no other has DaemonSets or Pods that count is known once it holds a list of all.`,
		Remedy: "grant the rights or give the files, then run the check again",
	}, cluster: notRead},
}
