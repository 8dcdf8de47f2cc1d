package skewreport

import (
	"fmt"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

func n(i int) *int { return &i }

func all(count int) inventory.Coverage { return inventory.Coverage{Complete: true, Count: count} }

const vsphereObject = "DaemonSet vmware-system-csi/vsphere-csi-node-windows"

// explain tells of rules in words that don't change with the rules.
func explain(id string) (skew.Rule, bool) {
	titles := map[string]string{"SKEW001": "minor distance", "SKEW003": "known not to work together", "HP005": "HostProcess is coming"}
	title, ok := titles[id]
	if !ok {
		return skew.Rule{}, false
	}
	return skew.Rule{ID: id, Title: title, Ground: "OpenShift asks for versions as close as possible.",
		Source: "https://github.com/openshift/enhancements/blob/master/enhancements/windows-containers/csi-proxy.md"}, true
}

// safe is a cluster whose one driver fits, before an update of one hop.
func safe() Report {
	return Report{
		Tool: "verify", Explain: explain, Version: "v1.2.0", CatalogAsOf: "2026-08-31", Today: "2026-11-21",
		Command: "verify skew --to 4.19 --kubeconfig admin.kubeconfig",
		Inventory: &inventory.Inventory{
			Sources: []inventory.Source{{Kind: "cluster", Name: "https://api.example.com:6443", Detail: "OpenShift 4.18.9"}},
			Read: map[inventory.Resource]inventory.Coverage{
				inventory.DaemonSets: all(14), inventory.Nodes: all(3), inventory.CSINodes: all(3), inventory.Pods: all(21),
			},
		},
		Result: &skew.Result{
			From: "4.18.9", To: "4.19", Hops: []skew.Hop{{From: "4.18", To: "4.19"}},
			Drivers: []skew.Row{{Driver: "azure-disk", Provisioner: "disk.csi.azure.com", Object: "DaemonSet kube-system/csi-azuredisk-node-win",
				LinuxNow: "1.31.5", LinuxTarget: "1.32.10", Windows: "1.32.10-windows-hp", DistanceNow: n(1), Distance: n(0),
				Mode: "HostProcess", ModeTarget: "HostProcess", Certainty: "exact"}},
			Findings: []finding.Finding{
				{ID: "SKEW001", Severity: finding.Info, Object: "DaemonSet kube-system/csi-azuredisk-node-win", Hop: "4.18 -> 4.19", Phase: "control-plane",
					Observed: "Windows 1.32.10, Linux 1.32.10", Why: "the same minor on both sides is what the project tests"},
				{ID: "REG001", Object: "DaemonSet kube-system/csi-azuredisk-node-win", Observed: "registered on 3 of 3 Windows nodes"},
			},
			Evaluated: []string{"SKEW001", "REG001", "HP001"},
			Steps:     []skew.Step{},
		},
	}
}

// mixed is a long way with a blocker at its end, warnings, and one accepted.
func mixed() Report {
	hops := []skew.Hop{{From: "4.16", To: "4.17"}, {From: "4.17", To: "4.18"}, {From: "4.18", To: "4.19"}, {From: "4.19", To: "4.20"}}
	r := &skew.Result{
		From: "4.16.21", To: "4.20", Hops: hops,
		Evaluated: []string{"SKEW001", "SKEW003", "SKEW006", "HP001", "HP005", "PROXY001", "REG001", "NODE001"},
		Findings:  mixedFindings(),
		Steps:     mixedSteps(),
		NotEvaluated: []skew.NotEvaluated{
			{Rule: "INTREE001", Reason: "no PersistentVolumes were read"},
			{Rule: "INTREE002", Reason: "no PersistentVolumes were read"},
		},
	}
	linux := []string{"3.1.2", "3.2.0", "3.3.0", "3.3.1", "3.5.0"}
	ebs := []string{"1.29.1", "1.32.0", "1.34.0", "1.39.0", "1.43.0"}
	for i := range hops {
		r.Drivers = append(r.Drivers,
			skew.Row{Hop: i, Driver: "vsphere", Provisioner: "csi.vsphere.vmware.com", Object: vsphereObject,
				LinuxNow: linux[i], LinuxTarget: linux[i+1], Windows: "3.3.0", DistanceNow: n([]int{2, 1, 0, 0}[i]), Distance: n([]int{1, 0, 0, -2}[i]),
				Mode: "csi-proxy", ModeTarget: []string{"", "", "", "HostProcess"}[i], Certainty: "range",
				Severity: []finding.Severity{finding.Warn, finding.Info, finding.Info, finding.Warn}[i]},
			skew.Row{Hop: i, Driver: "aws-ebs", Provisioner: "ebs.csi.aws.com", Object: "DaemonSet kube-system/ebs-csi-node-windows",
				LinuxNow: ebs[i], LinuxTarget: ebs[i+1], Windows: "1.26.0", DistanceNow: n([]int{-3, -6, -8, -13}[i]), Distance: n([]int{-6, -8, -13, -17}[i]),
				Mode: "csi-proxy", Certainty: "exact",
				Severity: []finding.Severity{finding.Warn, finding.Block, finding.Block, finding.Block}[i]},
		)
	}
	return Report{
		Tool: "verify", Explain: explain, Version: "v1.2.0", CatalogAsOf: "2026-08-31", Today: "2026-11-21", Result: r,
		Command: "verify skew --to 4.20 --must-gather must-gather.local.5421/ --accept NODE001",
		Inventory: &inventory.Inventory{
			Sources: []inventory.Source{{Kind: "must-gather", Name: "must-gather.local.5421/", Detail: "1,412 files, OpenShift 4.16.21"}},
			Read: map[inventory.Resource]inventory.Coverage{
				inventory.DaemonSets: all(31), inventory.Nodes: all(9), inventory.CSINodes: all(9),
				inventory.Pods: {Count: 120, Reason: "namespace apps isn't in it"}, inventory.Volumes: {Reason: "not in it"},
			},
			Problems: []inventory.Problem{{Where: "must-gather.local.5421/nodes/win-3.yaml:88:1", What: "the file ends in the middle of a mapping",
				Fix: "oc adm must-gather --image-stream=openshift/must-gather"}},
		},
	}
}

func mixedFindings() []finding.Finding {
	return []finding.Finding{
		{ID: "SKEW003", Severity: finding.Block, Object: "DaemonSet kube-system/ebs-csi-node-windows", Hop: "4.17 -> 4.18", Phase: "control-plane",
			Observed: "Windows 1.26.0, Linux 1.34.0", Expected: "Windows 1.28.0 or newer",
			Why:    "From 1.33.0 on the controller asks for the topology label `topology.kubernetes.io/zone`, which node plugins before 1.28.0 don't report; new volumes can't be attached to Windows nodes.",
			Remedy: "Raise the Windows DaemonSet to 1.28.0 or newer with the whole manifest of that release", Actions: run("kubectl kustomize \"github.com/kubernetes-sigs/aws-ebs-csi-driver/deploy/kubernetes/overlays/stable?ref=v1.34.0\" | oc apply -f -\noc rollout status -n kube-system daemonset/ebs-csi-node-windows"),
			When: "before", Source: "https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/CHANGELOG.md",
			Evidence: []string{"must-gather.local.5421/namespaces/kube-system/apps/daemonsets.yaml:412", "catalog release 4.18 aws-ebs 1.34.0 (exact)"}},
		{ID: "HP005", Severity: finding.Warn, Object: vsphereObject, Hop: "4.19 -> 4.20", Phase: "control-plane",
			Observed: "csi-proxy mode; Linux 3.5.0 has no csi-proxy client on Windows", Why: "vSphere CSI 3.5.0 needs a HostProcess pod; changing the tag alone breaks the driver.",
			Remedy: "Replace the whole DaemonSet, never only its tag", Actions: run("oc apply -f https://raw.githubusercontent.com/kubernetes-sigs/vsphere-csi-driver/v3.5.0/manifests/vanilla/vsphere-csi-driver.yaml"),
			When: "after", Source: "https://github.com/kubernetes-sigs/vsphere-csi-driver/pull/3164",
			Evidence: []string{"must-gather.local.5421/namespaces/vmware-system-csi/apps/daemonsets.yaml:41"}},
		{ID: "SKEW001", Severity: finding.Warn, Object: vsphereObject, Hop: "4.19 -> 4.20", Phase: "control-plane", Observed: "Windows 3.3.0, Linux 3.5.0: 2 minors behind",
			Expected: "the same minor, as close as possible", Why: "no project tests that distance", Remedy: "Update the Windows DaemonSet to 3.5.0", When: "after"},
		{ID: "SKEW001", Severity: finding.Warn, Object: vsphereObject, Hop: "4.16 -> 4.17", Phase: "now", Observed: "Windows 3.3.0, Linux 3.1.2: 2 minors ahead",
			Evidence: []string{"a.yaml:1", "a.yaml:2", "a.yaml:3", "a.yaml:4", "a.yaml:5", "a.yaml:6"}},
		{ID: "NODE001", Severity: finding.Info, Accepted: "WARN", Object: "Node win-2", Hop: "4.18 -> 4.19", Phase: "control-plane",
			Observed: "kubelet 1.29, API server 1.32", Expected: "1.31 or newer", Why: "accepted; it was WARN. OpenShift allows one minor on odd releases", Remedy: "Update WMCO first", When: "during"},
		{ID: "SKEW006", Object: vsphereObject, Observed: "one image on 3 nodes"},
	}
}

func mixedSteps() []skew.Step {
	return []skew.Step{
		{Hop: 1, When: "before", What: "Raise the EBS DaemonSet for Windows to 1.34.0", Why: "Linux 1.34.0 doesn't work with Windows before 1.28.0.",
			Actions: run("kubectl kustomize \"github.com/kubernetes-sigs/aws-ebs-csi-driver/deploy/kubernetes/overlays/stable?ref=v1.34.0\" | oc apply -f -"), Rules: []string{"SKEW003"}},
		{Hop: 1, When: "during", What: "Update the cluster to 4.18", Actions: run("oc adm upgrade --to=4.18.30")},
		{Hop: 3, When: "after", What: "Replace the vSphere DaemonSet by the whole manifest of 3.5.0", Why: "3.5.0 runs as a HostProcess pod only.", Rules: []string{"HP005", "SKEW001"},
			Actions: run("oc apply -f https://raw.githubusercontent.com/kubernetes-sigs/vsphere-csi-driver/v3.5.0/manifests/vanilla/vsphere-csi-driver.yaml")},
		{Hop: 0, When: "before", What: "Let `oc get co storage` say Available", Actions: run("oc get co storage")},
	}
}

// hostile is what a cluster can hold: terminal escapes, text that runs
// backwards, broken UTF-8, line ends, and what means something to HTML, XML
// and Markdown.
const hostile = "a\x1b[31m\x1b]0;t\x07b\x00\u009b2J\xff\u202ec\u2028\ufffe\r<script>alert(1)</script>|`x`*_[l](javascript:alert(1))]]>\"'\\ {}\n# h\n```\n- [x] done\n&amp;"

// unknown is a cluster that half answers, and answers wrongly where it does.
func unknown() Report {
	f := finding.Finding{ID: "SKEW005", Severity: finding.Unknown, Object: hostile, Observed: hostile, Expected: hostile, Why: hostile,
		Remedy: hostile, Actions: run("oc apply -f " + hostile), When: hostile, Source: hostile, Phase: hostile, Hop: hostile, Evidence: []string{hostile, "x.yaml:3 " + hostile}}
	fs := []finding.Finding{f}
	f.ID, f.Severity, f.Accepted = hostile, finding.Info, "BLOCK"
	fs = append(fs, f)
	for i := range 3 {
		fs = append(fs, finding.Finding{ID: "DATA002", Severity: finding.Unknown, Object: fmt.Sprintf("resource %d", i), Observed: "forbidden",
			Why: "what isn't read can't be judged", Remedy: "grant what is missing", Actions: run("verify skew role | oc apply -f -"), When: "before", Hop: "4.19 -> 4.20", Phase: "now"})
	}
	return Report{
		Tool: "verify", Explain: explain, Version: hostile, CatalogAsOf: "2026-08-31", Today: "tomorrow", Command: "verify skew --to 4.20 --manifests " + hostile,
		Inventory: &inventory.Inventory{
			Sources:  []inventory.Source{{Kind: "manifests", Name: hostile, Detail: hostile}},
			Read:     map[inventory.Resource]inventory.Coverage{hostile: {Reason: hostile}, inventory.Nodes: {Reason: "forbidden"}},
			Problems: []inventory.Problem{{Where: hostile, What: hostile, Fix: hostile}},
		},
		Result: &skew.Result{
			From: hostile, To: hostile, Hops: []skew.Hop{{From: hostile, To: hostile}},
			Drivers: []skew.Row{
				{Driver: hostile, Provisioner: hostile, Object: hostile, LinuxNow: hostile, LinuxTarget: hostile, Windows: hostile,
					Mode: hostile, ModeTarget: hostile, Severity: finding.Unknown, Certainty: hostile},
				{Driver: "smb", Provisioner: "smb.csi.k8s.io", Object: "DaemonSet 日本語/ノード", LinuxNow: "unknown", LinuxTarget: "unknown", Windows: "unknown",
					Mode: "none", Severity: finding.Unknown, Certainty: "default"},
			},
			Findings: fs, Evaluated: []string{hostile}, NotEvaluated: []skew.NotEvaluated{{Rule: hostile, Reason: hostile}},
			Steps: []skew.Step{{Hop: 7, When: hostile, What: hostile, Actions: run(hostile), Why: hostile, Rules: []string{hostile}}},
		},
	}
}

// finished is the check after an update: no target, all well.
func finished() Report {
	r := safe()
	r.Result.To, r.Result.Hops = "", nil
	r.Result.Drivers[0].LinuxTarget, r.Result.Drivers[0].Distance, r.Result.Drivers[0].ModeTarget = "", nil, ""
	r.Result.Findings = []finding.Finding{{ID: "SKEW001", Severity: finding.Warn, Object: "DaemonSet kube-system/csi-azuredisk-node-win", Phase: "now",
		Observed: "Windows 1.32.10, Linux 1.31.5: 1 minor ahead"}}
	return r
}

// run is an action of one command line.
func run(line string) []finding.Action {
	return []finding.Action{{Kind: "by-hand", Summary: line, Commands: []string{line}}}
}
