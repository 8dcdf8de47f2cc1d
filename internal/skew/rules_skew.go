package skew

import "github.com/winbake/winbake/internal/finding"

const (
	enhancement = "https://github.com/openshift/enhancements/blob/master/enhancements/windows-containers/csi-proxy.md"
	policies    = "https://github.com/kubernetes-csi/docs/blob/master/book/src/project-policies.md"
)

// skewRules judge versions of the Windows drivers against the Linux drivers.
var skewRules = []rule{
	{Rule: Rule{
		ID: "SKEW001", Title: "Windows driver is minors away from the Linux driver", Severity: finding.Warn, Scope: PerDriver,
		Ground: "OpenShift asks for a version match as close as possible, and says that some skew is to be expected",
		Source: enhancement,
		Text: `Compares the version of each Windows DaemonSet with the version of the Linux driver, whose
controller serves both. The Linux version is taken from the payload's source commit, else
from an image digest, else from the catalog's patch range or default of the release.

INFO  the Windows driver has the minor that Linux has now, and this update takes Linux on: the plan
      has the step that follows it. Or Windows is the newer one, which nothing forbids and nobody
      tests: it is left as it is.
WARN  Windows is minors behind before the update already, or the update leaves it behind a second
      time. No project names a limit, so it never blocks by itself. SKEW003 has the pairs
      that are known not to work.

Two of the same minor pass, which --verbose tells.

Where several Linux versions may hold, the distance is told as a range. Backports of OpenShift's
forks aren't seen: its driver may be newer than its number.`,
		Remedy: "after the update deploy the Windows version that is closest to the Linux one",
		Needs:  needsDrivers,
	}, driver: minorDistance},
	{Rule: Rule{
		ID: "SKEW002", Title: "Windows driver has another major version", Severity: finding.Block, Scope: PerDriver,
		Ground: "by semantic versioning another major may break what the two sides share",
		Source: policies,
		Text: `Compares majors, as SKEW001 compares minors.

INFO     the majors differ, nothing is known to break, and the update ends it.
WARN     the majors differ, and nothing is known to break: vSphere 2 and 3.
BLOCK    the majors differ, and the catalog names the pair as one that doesn't work: the
         betas of Azure Disk 2.0.0 against 1.x.
UNKNOWN  that depends on which of several Linux versions it is.`,
		Remedy: "deploy a Windows version of the Linux driver's major",
		Needs:  needsDrivers,
	}, driver: majorDiffers},
	{Rule: Rule{
		ID: "SKEW003", Title: "pair of versions that is known not to work", Severity: finding.Block, Scope: PerDriver,
		Ground: "the driver's own project says that the two don't work together",
		Source: "https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/CHANGELOG.md",
		Text: `Looks up each pair of Linux and Windows versions in the catalog's list of incompatible ones;
"verify catalog" prints it with the evidence. The finding's source is that of the pair.

BLOCK    the controller makes volumes that this node plugin can't use: an admin raises it before the
         update.
INFO     the pair names a node label that makes it harmless, and every Windows node in the driver's
         scope has it.
UNKNOWN  it holds for some of the Linux versions that the release may have.`,
		Remedy: "the pair's own, which also says whether it is due before or after the update",
		Needs:  needsDrivers,
	}, driver: knownIncompatible},
	{Rule: Rule{
		ID: "SKEW005", Title: "version or identity of a driver isn't known", Severity: finding.Unknown, Scope: PerDriver,
		Ground: "what can't be compared can't be called safe: tags such as latest move, digests carry no version",
		Source: "https://github.com/openshift/windows-machine-config-operator/tree/master/hack/manifests/csi",
		Text: `UNKNOWN where the version of a Windows driver can't be told (latest, canary, no tag, a digest
that nothing maps, a template that wasn't rendered, an absurd number), where the catalog
doesn't know the driver, where nothing says which operating system it is for, and where the
version of a Linux driver that OpenShift doesn't bring can't be told.`,
		Remedy: "pin the image to a version, or say which one it is with --image-version DIGEST=vX.Y.Z",
		Needs:  needsDrivers,
	}, driver: versionUnknown, cluster: systemUnknown},
	{Rule: Rule{
		ID: "SKEW006", Title: "pods of one DaemonSet run several versions", Severity: finding.Warn, Scope: PerDriver,
		Ground: "a rollout that isn't finished leaves versions on nodes that nothing else here looks at",
		Source: "https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/",
		Text: `WARN where the pods of a Windows DaemonSet run more than one image, or where fewer pods are of
the current template than are wanted. With the update strategy OnDelete pods keep their image
until somebody deletes them. Looks at the present state alone, and goes by imageID.`,
		Remedy: "wait for the rollout, or delete the old pods where the strategy is OnDelete",
		Needs:  needsPods,
	}, driver: mixedRollout},
}
