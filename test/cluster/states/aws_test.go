package states

import "github.com/winbake/winbake/internal/base/finding"

const zoneLabel = "topology.kubernetes.io/zone"

func awsStates() []state {
	on := func(release string, mods ...mod) *cluster {
		return openshift(release, "AWS", append([]mod{uses(ebsName)}, mods...)...)
	}
	return []state{
		{
			name: "ebs equal, and falls behind by the update", cluster: on("4.19.12", with(ebs("v1.39.0"))), to: "4.20",
			verdict: finding.Pass, why: "the project counts months as minors; Windows follows after the update", source: "https://github.com/kubernetes-sigs/aws-ebs-csi-driver#releases",
		},
		{
			name: "ebs equal, to the release that ships the same", cluster: on("4.21.3", with(ebs("v1.48.0"))), to: "4.22",
			verdict: finding.Pass, why: "4.21 and 4.22 ship 1.48.0", source: asClose,
		},
		{
			name: "ebs equal, 4.22 to 5.0", cluster: on("4.22.2", with(ebs("v1.48.0"))), to: "5.0",
			verdict: finding.Pass, why: "5.0 ships 1.48.0, and follows 4.22", source: asClose,
		},
		{
			name: "ebs behind the topology key, nodes without the label", cluster: on("4.17.20", with(ebs("v1.26.0"))), to: "4.18",
			verdict: finding.Block, why: "the controller of 1.34 gives volumes a topology key that a node plugin before 1.28 doesn't report: pods with new volumes aren't scheduled", source: ebsChangelog,
		},
		{
			name: "ebs behind the topology key, nodes labelled by the cloud", cluster: on("4.17.20", labelled(zoneLabel, "us-east-1a"), with(ebs("v1.26.0"))), to: "4.18",
			verdict: finding.Warn, why: "the label is there on every node, so that volumes find them; the driver is six minors behind already", source: ebsChangelog,
		},
		{
			name: "ebs behind the topology key, no update", cluster: on("4.18.20", with(ebs("v1.26.0")), change(func(c *cluster) {
				for i := range c.nodes {
					c.nodes[i].topology = []string{"topology.ebs.csi.aws.com/zone"}
				}
				c.volumes[0].zone, c.volumes[0].node = zoneLabel, -1
			})),
			verdict: finding.Block, why: "a pod waits: its volume asks for a label that no Windows node has", source: ebsChangelog,
		},
		{
			name: "a volume in a zone without Windows nodes", cluster: on("4.20.6", labelled(zoneLabel, "us-east-1b"), with(ebs("v1.45.0")), change(func(c *cluster) { c.volumes[0].zone = zoneLabel })), to: "4.21",
			verdict: finding.Warn, why: "the pod that runs is drained by the update and finds no node after it", source: "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity",
		},
		{
			name: "a node that has lost its topology label", cluster: on("4.20.6", labelled(zoneLabel, "us-east-1a"), with(ebs("v1.45.0")), change(func(c *cluster) {
				for i := range c.nodes {
					c.nodes[i].topology = []string{zoneLabel}
				}
				c.nodes[1].labels = nil
			})), to: "4.21",
			verdict: finding.Warn, why: "pods whose volumes ask for the zone can't move there while the other node is updated", source: nodeInfo,
		},
		{
			name: "ebs ahead", cluster: on("4.19.12", with(ebs("v1.48.0"))), to: "4.20",
			verdict: finding.Pass, why: "newer than Linux before and after; nobody forbids it, and it needn't be changed", source: asClose,
		},
		{
			name: "ebs ahead, no update", cluster: on("4.19.12", with(ebs("v1.48.0"))),
			verdict: finding.Pass, why: "newer than Linux, running; going back would be a change of its own", source: asClose,
		},
		{
			name: "ebs with the tag of EKS", cluster: on("4.19.12", with(ebs("v1.39.0-eksbuild.1"))), to: "4.20",
			verdict: finding.Pass, why: "a build of 1.39.0", source: "https://docs.aws.amazon.com/eks/latest/userguide/ebs-csi.html",
		},
		{
			name: "ebs on Server 2025, running", cluster: on("4.22.2", onWindows(26100), with(ebs("v1.54.0"))), to: "5.0",
			verdict: finding.Pass, why: "pods are ready and registered: images of Server 2022 run on 2025; newer than Linux", source: stableABI,
		},
		{
			name: "ebs without an image for the node's Windows", cluster: on("4.12.60", with(ebs("v1.11.4", broken))),
			verdict: finding.Block, why: "1.11 has images up to 20H2; Server 2022 finds none, and no pod runs", source: "https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/v1.11.4/Makefile",
		},
		{
			name: "ebs several minors", cluster: on("4.18.20", with(ebs("v1.34.0"))), to: "4.20",
			verdict: finding.Warn, why: "the first update leaves it behind, and the second again: Windows has to follow in between", source: asClose,
		},
		{
			name: "ebs behind before", cluster: on("4.18.20", with(ebs("v1.32.0"))), to: "4.19",
			verdict: finding.Warn, why: "behind before the update", source: asClose,
		},
		{
			name: "ebs behind, from Helm", cluster: on("4.18.20", with(ebs("v1.32.0", fromHelm))), to: "4.19",
			verdict: finding.Warn, why: "behind before the update; the chart's values are where it changes", source: asClose,
		},
		{
			name: "ebs behind, from Argo CD", cluster: on("4.18.20", with(ebs("v1.32.0", fromArgoCD))), to: "4.19",
			verdict: finding.Warn, why: "behind before the update; the repository is where it changes, Argo CD would undo anything else", source: asClose,
		},
		{
			name: "ebs behind, from Flux", cluster: on("4.18.20", with(ebs("v1.32.0", fromFlux))), to: "4.19",
			verdict: finding.Warn, why: "behind before the update; the repository is where it changes", source: asClose,
		},
		{
			name: "ebs behind, from Open Cluster Management", cluster: on("4.18.20", with(ebs("v1.32.0", fromACM))), to: "4.19",
			verdict: finding.Warn, why: "behind before the update; the hub is where it changes", source: asClose,
		},
		{
			name: "ebs equal, from Helm", cluster: on("4.19.12", with(ebs("v1.39.0", fromHelm))), to: "4.20",
			verdict: finding.Pass, why: "equal before the update: who owns it doesn't matter yet", source: asClose,
		},
		{
			name: "ebs, another manifest's tag moves", cluster: on("4.19.12", with(ebs("latest"))), to: "4.20",
			verdict: finding.Unknown, why: "the tag latest moves", source: asClose,
		},
		{
			name: "ebs with images of several versions", cluster: on("4.19.12", with(ebs("v1.39.0", func(d *driver) {
				d.onDelete, d.stale, d.staleImage = true, []int{1}, "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.34.0"
			}))),
			verdict: finding.Warn, why: "OnDelete: a node runs the old pod until somebody deletes it", source: daemonSets,
		},
	}
}
