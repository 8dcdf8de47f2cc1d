package skew_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// lines are all commands of a plan.
func lines(r *skew.Result) string {
	var all []string
	for _, s := range r.Steps {
		all = append(all, s.Commands()...)
	}
	return strings.Join(all, "\n")
}

// The plan takes a release that the cluster is offered without known risks, and where
// there is none it has a person judge them: oc refuses such an update without the flag.
func TestUpdateIsOffered(t *testing.T) {
	for _, c := range []struct {
		channel, from, to string
		available, risky  []string
		want, without     string
		judged            bool
	}{
		{to: "4.20", available: []string{"4.20.3", "4.20.9"}, risky: []string{"4.20.9"}, want: "oc adm upgrade --to=4.20.3", without: "--allow-not-recommended"},
		{to: "4.20", available: []string{"4.20.3", "4.20.9", "4.20.5"}, risky: []string{"4.20.9"}, want: "oc adm upgrade --to=4.20.5", without: "--allow-not-recommended"},
		{to: "4.20", available: []string{"4.20.9", "4.20.5", "4.20.3"}, want: "oc adm upgrade --to=4.20.9", without: "--allow-not-recommended"},
		{to: "4.20", available: []string{"4.20.9", "4.20.3"}, risky: []string{"4.20.9", "4.20.3"}, want: "oc adm upgrade --to=4.20.9 --allow-not-recommended", judged: true},
		{to: "4.20", available: []string{"4.20.9"}, risky: []string{"4.20.9"}, want: "oc adm upgrade --to=4.20.9 --allow-not-recommended", judged: true},
		{to: "4.20.9", available: []string{"4.20.3", "4.20.9"}, risky: []string{"4.20.9"}, want: "oc adm upgrade --to=4.20.9 --allow-not-recommended", judged: true},
		{to: "4.20.0-rc.2", channel: "stable-4.19", want: "oc adm upgrade channel candidate-4.20\nverify skew --to=4.20.0-rc.2\noc adm upgrade --to=4.20.0-rc.2"},
		{to: "4.20.9", channel: "fast-4.19", want: "oc adm upgrade channel fast-4.20"},
		{to: "4.20.9", channel: "our-own", want: "oc adm upgrade --to=4.20.9", without: "channel"},
		{to: "4.20.0-okd-scos.5", channel: "stable-scos-4", want: "oc adm upgrade --to=4.20.0-okd-scos.5", without: "channel"},
		{to: "4.20.0-okd-scos.5", want: "oc adm upgrade --to=4.20.0-okd-scos.5", without: "channel"},
		{from: "4.19.0-0.nightly-2026-03-01-120000", to: "4.20", want: "oc adm upgrade", without: "channel"},
		{from: "4.19.0-0.nightly-2026-03-01-120000", to: "4.21", channel: "stable-4.19", want: "oc adm upgrade", without: "channel"},
	} {
		inv := storageCluster("4.19", "10.19.1")
		inv.Cluster.Channel, inv.Cluster.Available = c.channel, c.available
		for _, r := range c.risky {
			inv.Cluster.Conditional = append(inv.Cluster.Conditional, inventory.Risk{Release: r, Names: []string{"SomeRisk"}})
		}
		r := evaluate(t, inv, skew.Request{From: c.from, To: c.to})
		judged := slices.ContainsFunc(r.Steps, func(s skew.Step) bool {
			return slices.ContainsFunc(s.Actions, func(a finding.Action) bool {
				return a.Kind == "update-control-plane" && strings.Contains(a.Judge, "known risks")
			})
		})
		if got := lines(r); !strings.Contains(got, c.want) || c.without != "" && strings.Contains(got, c.without) || judged != c.judged {
			t.Errorf("%s to %s of %q, with risks %q, judged: %t\n%s", c.channel, c.to, c.available, c.risky, judged, got)
		}
	}
}

// A pool that is paused is resumed before the first update, once.
func TestPausedPoolIsResumedOnTheWay(t *testing.T) {
	const want = "0 before: resume the machine config pool infra (it was paused before this plan), and wait until its nodes have followed"
	for _, c := range []struct{ from, to string }{{"4.18", "4.20"}, {"4.18", "4.21"}, {"4.19", "4.20"}, {"4.17", "4.21"}} {
		inv := storageCluster(c.from, "10."+strings.TrimPrefix(c.from, "4.")+".0")
		inv.Cluster.Pools = []inventory.Pool{{Name: "master"}, {Name: "worker"}, {Name: "infra", Paused: true}}
		var got []string
		for _, s := range evaluate(t, inv, skew.Request{To: c.to}).Steps {
			if strings.Contains(s.What, "machine config pool") {
				got = append(got, fmt.Sprintf("%d %s: %s", s.Hop, s.When, s.What))
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s to %s: %q", c.from, c.to, got)
		}
	}
}

// A hosted cluster is updated on its management cluster: what oc changes in it is put
// back. It has no pools to pause.
func TestHostedClusterIsUpdatedElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		channel, to string
		eus         *bool
		want        string
	}{
		"a channel of its own": {"stable-4.18", "4.20", nil, "0 update this hosted cluster to 4.19 on its management cluster: spec.channel stable-4.19 and spec.release of its HostedCluster, then spec.release of its NodePools\n1 update this hosted cluster to 4.20 on"},
		"an EUS channel":       {"eus-4.18", "4.20", nil, "0 update this hosted cluster to 4.19 on"},
		"asked for":            {"eus-4.18", "4.20", new(true), "0 update this hosted cluster to 4.19 on its management cluster: spec.channel eus-4.20 and"},
		"a patch":              {"stable-4.18", "4.18.40", nil, "0 update this hosted cluster to 4.18.40 on its management cluster: spec.release of its HostedCluster, then"},
	} {
		inv := storageCluster("4.18", "10.18.0")
		inv.Cluster.OpenShift, inv.Cluster.Channel, inv.Cluster.Topology = "4.18.30", c.channel, "External"
		r := evaluate(t, inv, skew.Request{To: c.to, EUS: c.eus})
		if got := lines(r); strings.Contains(got, "oc adm upgrade") || strings.Contains(got, "machineconfigpool") {
			t.Errorf("%s: it is changed in the cluster itself:\n%s", name, got)
		}
		var got strings.Builder
		for _, s := range r.Steps {
			for _, a := range s.Actions {
				if a.Kind == "update-hosted" {
					fmt.Fprintf(&got, "%d %s\n", s.Hop, s.What)
					if a.Judge == "" || a.Done == "" {
						t.Errorf("%s: %+v", name, a)
					}
				}
			}
		}
		if !strings.HasPrefix(got.String(), c.want) || strings.Contains(got.String(), "windows-machine") {
			t.Errorf("%s: %s", name, got.String())
		}
		if removed := strings.Contains(lines(r), "delete subscriptions"); removed != (c.eus != nil) {
			t.Errorf("%s: WMCO is removed: %t", name, removed)
		}
	}
}

// An update that is under way is a stop of the way to a later target, by its patch.
func TestUpdateUnderWayIsAStop(t *testing.T) {
	inv := storageCluster("4.19", "10.19.1")
	inv.Cluster.Updating = "4.20.6"
	r := evaluate(t, inv, skew.Request{To: "4.21"})
	if want := []skew.Hop{{From: "4.19.30", To: "4.20.6"}, {From: "4.20.6", To: "4.21"}}; !slices.Equal(r.Hops, want) {
		t.Errorf("%v, want %v", r.Hops, want)
	}
}

// A cluster that goes back to its former patch has something to wait for, and is no
// error: nobody has asked for an older release.
func TestWayBack(t *testing.T) {
	for _, to := range []string{"", "4.19.12", "4.20"} {
		inv := storageCluster("4.19", "10.19.1")
		inv.Cluster.Updating = "4.19.12"
		r := evaluate(t, inv, skew.Request{To: to})
		if r.Verdict != finding.Warn || !strings.Contains(lines(r), "oc adm upgrade") {
			t.Errorf("--to %q: %s, %v", to, r.Verdict, r.Steps)
		}
		inv.Cluster.OpenShift = "4.19.12"
		r = evaluate(t, inv, skew.Request{To: to})
		if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Observed == "the way back to 4.19.12 isn't complete" }) {
			t.Errorf("--to %q: %v", to, r.Findings)
		}
	}
}

// What a release that the catalog doesn't know lacks is asked for in the same words.
func TestUnknownReleaseIsAskedForOnce(t *testing.T) {
	var asks []string
	for _, f := range evaluate(t, storageCluster("4.22", "10.22.1"), skew.Request{To: "4.24"}).Findings {
		if f.Severity == finding.Unknown {
			asks = append(asks, f.Remedy)
		}
	}
	if len(asks) < 3 || len(slices.Compact(asks)) != 1 || !strings.Contains(asks[0], "--release-image") {
		t.Errorf("%q", asks)
	}
}

// A cluster without Windows nodes and WMCO has no step for WMCO.
func TestNoWindowsNoWMCO(t *testing.T) {
	for _, wmco := range []string{"", "10.19.1"} {
		inv := storageCluster("4.19", wmco)
		noWindows(inv)
		inv.Nodes, inv.CSINodes = nil, nil
		if got := lines(evaluate(t, inv, skew.Request{To: "4.20"})); strings.Contains(got, "windows-machine-config-operator") != (wmco != "") {
			t.Errorf("WMCO %q:\n%s", wmco, got)
		}
	}
}

// A DaemonSet that selects no node gets its selector back: another one of its name would
// be written over it, and keep what selects nothing.
func TestDaemonSetThatSelectsNoNode(t *testing.T) {
	inv := storageCluster("4.19", "10.19.1")
	uses(inventory.VolumeUse{Node: "win-1", Provisioner: vsphereName, Claim: "data", PV: "pv"})(inv)
	registers(nil)(inv)
	onWindows(func(d *inventory.Driver) {
		d.Object.Name, d.Rollout = "vmware-vsphere-csi-driver-node-windows", &inventory.Rollout{Observed: true}
		d.Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "windows", "paused": "true"}
	})(inv)
	r := evaluate(t, inv, skew.Request{To: "4.20"})
	got := lines(r)
	if r.Verdict != finding.Block || !strings.Contains(got, `{"spec":{"template":{"spec":{"nodeSelector":{"paused":null}}}}}`) || strings.Contains(got, "oc apply -f vsphere-4.19") {
		t.Errorf("%s\n%s", r.Verdict, got)
	}
}

// A driver moves inside a minor: the plan goes by the patch that the cluster is offered.
func TestPlanGoesByThePatch(t *testing.T) {
	for offered, want := range map[string]string{"4.21.3": ":v1.33.5", "4.21.20": ":v1.34.2"} {
		inv := clusterOf("4.20", "10.20.1", azureDisk("v1.32.1"))
		inv.Cluster.Available = []string{offered}
		if got := lines(evaluate(t, inv, skew.Request{To: "4.21"})); !strings.Contains(got, want) {
			t.Errorf("offered %s, want an image %s:\n%s", offered, want, got)
		}
	}
}
