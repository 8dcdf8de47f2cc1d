package skew

import "github.com/winbake/winbake/internal/finding"

// proxyRules judge whether csi-proxy is there and serves what drivers dial.
var proxyRules = []rule{
	{Rule: Rule{
		ID: "PROXY001", Title: "csi-proxy is absent", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  needsScope,
		Ground: "a driver that dials csi-proxy needs one on its nodes; WMCO ships one from 7.2.0, 8.1.0 and 9.0.0",
		Text: `Looks at each node that a DaemonSet with csi-proxy's pipes runs on, and a HostProcess one of a line
that dials csi-proxy all the same (Azure Disk 1.14 to 1.27): the log of its csi-proxy, WMCO's list
of services, WMCO's version by the catalog, a DaemonSet that runs csi-proxy.

BLOCK    there is none, or the WMCO that is about to configure the node, or every WMCO for the
         target, ships none.
WARN     some WMCO for the target ships none: 8.0.x after 7.2.x takes it away.
UNKNOWN  WMCO didn't configure the node, and nothing else tells.

Nothing looks into a node: a service that somebody stopped isn't seen.`,
		Remedy: "update WMCO to a release that ships csi-proxy before the driver is deployed, or run csi-proxy as a HostProcess DaemonSet where there is no WMCO",
	}, cluster: saying(proxyAbsent)},
	{Rule: Rule{
		ID: "PROXY003", Title: "a pipe that the driver dials isn't mounted", Severity: finding.Block, Scope: PerCluster, Source: kep1122,
		Needs:  needsDrivers,
		Ground: "a driver reaches only the pipes that its pod mounts",
		Text: `Compares the API groups that the catalog has for the driver's version with the pipes that its
DaemonSet mounts.

BLOCK    no version of a group is mounted: vSphere without system-v1alpha1, for one.
UNKNOWN  the version isn't known, and some lines of the driver couldn't live with the mounts; or
         the manifest is cut off, or a patch.

HostProcess pods need no mounts.`,
		Remedy: "add the missing hostPath volumes and their mounts to the driver's container, or apply the project's manifest whole",
	}, cluster: saying(pipeNotMounted), lacks: true},
	{Rule: Rule{
		ID: "PROXY004", Title: "driver or csi-proxy needs wmic", Severity: finding.Unknown, Scope: PerCluster, Source: wmicFails,
		Needs:  needsScope,
		Ground: "csi-proxy before 1.3.0 answers vSphere's question for the BIOS serial number with wmic, which newer Windows may not have",
		Text: `WARN     on a node of Windows build 26100 (Windows Server 2025) or newer, for a driver line that
         asks csi-proxy for the BIOS serial number (vSphere 2.4 to 3.4) where csi-proxy runs wmic,
         and for one that runs wmic itself (vSphere 3.5 to 3.7), whatever csi-proxy there is.
UNKNOWN  the driver's version, the csi-proxy or the build isn't known.

It doesn't block, because it wasn't seen on a real node whether wmic is missing there: Get-Command
wmic on the node tells.`,
		Remedy: "deploy a version that runs no wmic (vSphere 3.8.0, once it is released), or csi-proxy 1.3.0 for one that asks it; until then keep the pods off nodes without wmic",
	}, cluster: saying(proxyWMIC), starts: true},
	{Rule: Rule{
		ID: "PROXY005", Title: "two csi-proxies on one node", Severity: finding.Unknown, Scope: PerCluster, Source: twoProxies,
		Needs:  needsScope,
		Ground: "a named pipe has one owner; the second csi-proxy on a node stops with a panic",
		Text: `WARN     a DaemonSet runs csi-proxy on nodes whose WMCO runs it as a service, or will after the
         update.
UNKNOWN  the catalog doesn't know the node's WMCO, and its list of services wasn't read.`,
		Remedy: "delete the DaemonSet: WMCO's service stays",
	}, cluster: saying(proxyDouble)},
	{Rule: Rule{
		ID: "PROXY007", Title: "csi-proxy has a known vulnerability", Severity: finding.Warn, Scope: PerCluster, Source: cve20233893,
		Needs:  needsNodes,
		Ground: "CVE-2023-3893: csi-proxy before 1.1.3 lets whoever may create pods become administrator of the node",
		Text: `WARN  the catalog has a CVE for the csi-proxy of a node. WMCO never shipped such a csi-proxy: it
      comes with a DaemonSet, v1.0.2 in sig-windows' example, whose image has to be raised.

Goes by the node's own log, else by the DaemonSet's image. Knows what was published until the
catalog's date.`,
		Remedy: "update csi-proxy to a version without it: through WMCO, or its DaemonSet's image",
	}, cluster: saying(proxyVulnerable)},
}
