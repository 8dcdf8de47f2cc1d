package skew

import (
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// proxyRules judge whether csi-proxy is there and serves what drivers dial.
var proxyRules = []rule{
	{Rule: Rule{
		ID: "PROXY001", Title: "csi-proxy is absent", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  []inventory.Resource{inventory.DaemonSets, inventory.Nodes},
		Ground: "A driver that mounts csi-proxy's pipes needs a csi-proxy on its nodes; WMCO ships one from 7.2.0, 8.1.0 and 9.0.0.",
		Text: `Looks at each node that a DaemonSet with csi-proxy's pipes runs on, and a HostProcess one of a line that dials csi-proxy
all the same (Azure Disk 1.14 to 1.27): the log of its csi-proxy, WMCO's list of
services, WMCO's version by the catalog, a DaemonSet that runs csi-proxy. BLOCK where there is none, and where the WMCO
that is about to configure the node, or every WMCO for the target, ships none. WARN where some WMCO for the target
ships none (8.0.x after 7.2.x loses it). UNKNOWN on a node that WMCO didn't configure and of which nothing else tells.
Nothing looks into a node: a service that somebody stopped isn't seen.`,
	}, cluster: saying(proxyAbsent)},
	{Rule: Rule{
		ID: "PROXY002", Title: "a mounted pipe isn't served", Severity: finding.Block, Scope: PerCluster, Source: kep1122,
		Needs:  []inventory.Resource{inventory.DaemonSets, inventory.Nodes},
		Ground: "csi-proxy is to be updated on every node before a driver that needs its newer API groups.",
		Text: `Compares the pipes that a DaemonSet mounts with those that the csi-proxy of each node serves by the catalog. BLOCK
where one isn't served and the driver has no other version of it mounted and served; WARN where it has. That a pod
with a missing pipe doesn't start was reported for drivers, and wasn't seen on a real node by us. UNKNOWN where
csi-proxy's version isn't known.`,
	}, cluster: saying(proxyGroups)},
	{Rule: Rule{
		ID: "PROXY003", Title: "a pipe that the driver dials isn't mounted", Severity: finding.Block, Scope: PerCluster, Source: kep1122,
		Needs:  []inventory.Resource{inventory.DaemonSets},
		Ground: "A driver reaches only the pipes that its pod mounts.",
		Text: `Compares the API groups that the catalog has for the driver's version with the pipes that its DaemonSet mounts. BLOCK
where no version of a group is mounted: vSphere without system-v1alpha1, for one. UNKNOWN where the version isn't known
and some lines of the driver couldn't live with the mounts. HostProcess pods need no pipes.`,
	}, cluster: saying(pipeNotMounted)},
	{Rule: Rule{
		ID: "PROXY004", Title: "driver or csi-proxy needs wmic", Severity: finding.Warn, Scope: PerCluster, Source: wmicFails,
		Needs:  []inventory.Resource{inventory.DaemonSets, inventory.Nodes},
		Ground: "csi-proxy before 1.3.0 answers vSphere's question for the BIOS serial number with wmic, which newer Windows may not have.",
		Text: `WARN on a node of Windows build 26100 (Windows Server 2025) or newer for a driver line that asks csi-proxy for the BIOS
serial number (vSphere 2.4 to 3.4) with a csi-proxy that runs wmic, and for one that runs wmic itself (vSphere 3.5 to
3.7), whatever csi-proxy there is. UNKNOWN where the driver's version, the csi-proxy or the build isn't known. It is no
more than WARN because it wasn't seen whether such a node lacks wmic: Get-Command wmic on the node tells.
Deploy a version that runs no wmic (vSphere 3.8.0), or csi-proxy 1.3.0 for one that asks it.`,
	}, cluster: saying(proxyWMIC)},
	{Rule: Rule{
		ID: "PROXY005", Title: "two csi-proxies on one node", Severity: finding.Warn, Scope: PerCluster, Source: twoProxies,
		Needs:  []inventory.Resource{inventory.DaemonSets, inventory.Nodes},
		Ground: "A named pipe has one owner; the second csi-proxy on a node stops with a panic.",
		Text: `WARN where a DaemonSet runs csi-proxy on nodes whose WMCO runs it as a service, or will after the update. UNKNOWN
where the catalog doesn't know the node's WMCO and its list of services wasn't read.`,
	}, cluster: saying(proxyDouble)},
	{Rule: Rule{
		ID: "PROXY006", Title: "csi-proxies differ", Severity: finding.Warn, Scope: PerCluster, Source: kep1122,
		Needs:  []inventory.Resource{inventory.Nodes},
		Ground: "A driver must fit the oldest csi-proxy of its nodes.",
		Text:   `WARN where Windows nodes run several versions of csi-proxy: WMCO is at work, or a node was left behind.`,
	}, cluster: saying(proxyMixed)},
	{Rule: Rule{
		ID: "PROXY007", Title: "csi-proxy has a known vulnerability", Severity: finding.Warn, Scope: PerCluster, Source: cve20233893,
		Needs:  []inventory.Resource{inventory.Nodes},
		Ground: "CVE-2023-3893: csi-proxy before 1.1.3 lets whoever may create pods become administrator of the node.",
		Text:   `WARN where the catalog has a CVE for the csi-proxy of a node. UNKNOWN where csi-proxy runs and its version isn't known.`,
	}, cluster: saying(proxyVulnerable)},
}
