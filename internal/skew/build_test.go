package skew

import (
	"encoding/json"
	"testing"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// own is the catalog that the program carries.
func own(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// windows is a Windows DaemonSet of a driver by the catalog's name, as its
// project's pipe-mode manifest makes it, with the pipes of that version.
func windows(t testing.TB, line, tag string, edits ...func(*inventory.Driver)) inventory.Driver {
	t.Helper()
	cat := own(t).Driver(line)
	if cat == nil {
		t.Fatalf("no driver %s in the catalog", line)
	}
	d := inventory.Driver{
		Object:      inventory.Object{Kind: "DaemonSet", Namespace: "kube-system", Name: line + "-windows"},
		OS:          "windows",
		Provisioner: cat.Provisioner,
		Line:        line,
		Image:       inventory.Image{Reference: "registry.example/" + line + ":" + tag, Repository: "registry.example/" + line, Tag: tag},
		Version:     fact1(tag),
		Scheduling:  inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}},
		Rollout:     &inventory.Rollout{Strategy: "RollingUpdate", Desired: 1, Ready: 1, Updated: 1, Observed: true},
		Registrar: &inventory.Sidecar{
			Container: "node-driver-registrar",
			Image:     inventory.Image{Reference: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.10.0", Tag: "v2.10.0"},
			Version:   fact1("v2.10.0"),
		},
		Evidence: []inventory.Evidence{{Where: "windows.yaml:1"}},
	}
	if d.Version.Known {
		if l := cat.Line(d.Version.Version); l != nil {
			for _, use := range l.API {
				d.Pipes = append(d.Pipes, inventory.Pipe{Group: use.Group, Version: use.Versions[0]})
			}
		}
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

// linux is a Linux DaemonSet that OpenShift's operator made.
func linux(t testing.TB, line string, edits ...func(*inventory.Driver)) inventory.Driver {
	t.Helper()
	cat := own(t).Driver(line)
	d := inventory.Driver{
		Object:          inventory.Object{Kind: "DaemonSet", Namespace: "openshift-cluster-csi-drivers", Name: line + "-node"},
		OS:              "linux",
		Provisioner:     cat.Provisioner,
		Line:            line,
		OperatorManaged: true,
		Version:         inventory.VersionFact{Reason: "digest only"},
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

// fact1 is what a reader makes of a tag.
func fact1(tag string) inventory.VersionFact {
	v, err := version.ParseDriver(tag)
	if err != nil {
		return inventory.VersionFact{Reason: err.Error()}
	}
	return inventory.VersionFact{Version: v, Known: true, By: "tag", At: inventory.Evidence{Where: "windows.yaml:9", Text: tag}}
}

// hostProcess makes a driver one that runs as a HostProcess container, with
// the flag of its line.
func hostProcess(d *inventory.Driver) {
	yes := true
	d.HostProcess, d.Pipes, d.HostProcessFlag = true, nil, &yes
}

// node is a Windows node of Windows Server 2022 that WMCO configured.
func node(name string, edits ...func(*inventory.Node)) inventory.Node {
	n := inventory.Node{
		Name:    name,
		Labels:  map[string]string{"kubernetes.io/os": "windows", "kubernetes.io/hostname": name},
		Build:   20348,
		OSImage: "Windows Server 2022 Datacenter",
		Kubelet: "v1.32.9",
		Ready:   true,
		WMCO:    "10.19.1-1a2b3c4",
		At:      inventory.Evidence{Where: "Node " + name},
	}
	for _, edit := range edits {
		edit(&n)
	}
	return n
}

// registered is the CSINode of a node with drivers.
func registered(name string, provisioners ...string) inventory.CSINode {
	return inventory.CSINode{Name: name, Drivers: provisioners, At: inventory.Evidence{Where: "CSINode " + name}}
}

// cluster builds an inventory of parts, with every resource read in full.
func cluster(parts ...any) *inventory.Inventory {
	inv := &inventory.Inventory{Read: map[inventory.Resource]inventory.Coverage{}}
	for _, r := range []inventory.Resource{
		inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods, inventory.Volumes,
		inventory.Claims, inventory.ClusterVersion, inventory.Services,
	} {
		inv.Read[r] = inventory.Coverage{Complete: true}
	}
	for _, part := range parts {
		switch p := part.(type) {
		case inventory.Driver:
			inv.Drivers = append(inv.Drivers, p)
		case inventory.Node:
			inv.Nodes = append(inv.Nodes, p)
		case inventory.CSINode:
			inv.CSINodes = append(inv.CSINodes, p)
		case inventory.Proxy:
			inv.Proxies = append(inv.Proxies, p)
		case inventory.VolumeUse:
			inv.Volumes = append(inv.Volumes, p)
		case inventory.Leftover:
			inv.Leftovers = append(inv.Leftovers, p)
		case inventory.Payload:
			inv.Payloads = append(inv.Payloads, p)
		case inventory.Problem:
			inv.Problems = append(inv.Problems, p)
		case inventory.Cluster:
			inv.Cluster = p
		case func(*inventory.Inventory):
			p(inv)
		default:
			panic("cluster: not a part of an inventory")
		}
	}
	inv.Normalize()
	return inv
}

// unread takes a resource away.
func unread(r inventory.Resource) func(*inventory.Inventory) {
	return func(inv *inventory.Inventory) { delete(inv.Read, r) }
}

// judge evaluates by our own catalog; spec is "4.19", or "4.19 4.20".
func judge(t testing.TB, inv *inventory.Inventory, from, to string, edits ...func(*Request)) *Result {
	t.Helper()
	r := Request{From: from, To: to, Now: own(t).AsOf}
	for _, edit := range edits {
		edit(&r)
	}
	result, err := Evaluate(own(t), inv, r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// of are the findings of one rule.
func of(r *Result, id string) []finding.Finding {
	var list []finding.Finding
	for _, f := range r.Findings {
		if f.ID == id {
			list = append(list, f)
		}
	}
	return list
}

// worstOf is the worst severity that a rule gave; Pass if it said nothing.
func worstOf(r *Result, id string) finding.Severity { return finding.Worst(of(r, id)) }

// show prints findings into a failing test's log.
func show(t testing.TB, r *Result) {
	t.Helper()
	for _, f := range r.Findings {
		data, _ := json.MarshalIndent(f, "", "  ")
		t.Logf("%s", data)
	}
}

// ruleCase is one state of a cluster and what one rule makes of it.
type ruleCase struct {
	name string
	rule string
	from string
	to   string
	inv  *inventory.Inventory
	ask  func(*Request)
	want finding.Severity
	// mend does what the remedy says; with it the rule says INFO at most.
	// Mandatory where want is WARN, UNKNOWN or BLOCK.
	mend func(*inventory.Inventory, *Request)
}

// run checks the case, and the property of every rule: what its remedy
// describes makes it go away.
func (c ruleCase) run(t *testing.T) {
	t.Run(c.rule+"/"+c.name, func(t *testing.T) {
		ask := func(r *Request) {
			if c.ask != nil {
				c.ask(r)
			}
		}
		got := judge(t, c.inv, c.from, c.to, ask)
		if s := worstOf(got, c.rule); s != c.want {
			show(t, got)
			t.Fatalf("%s is %s, want %s", c.rule, s, c.want)
		}
		checkWords(t, of(got, c.rule))
		if c.want <= finding.Info {
			return
		}
		if c.mend == nil {
			t.Fatal("no mend")
		}
		inv, request := clone(t, c.inv), Request{}
		ask(&request)
		c.mend(inv, &request)
		inv.Normalize()
		from, to := c.from, c.to
		mended := judge(t, inv, from, to, func(r *Request) {
			ask(r)
			r.Planned, r.Static = request.Planned, request.Static
			if request.From != "" {
				r.From = request.From
			}
			if request.To != "" {
				r.To = request.To
			}
			if request.Now != "" {
				r.Now = request.Now
			}
		})
		if s := worstOf(mended, c.rule); s > finding.Info {
			show(t, mended)
			t.Errorf("mended, and still %s", s)
		}
	})
}

// checkWords holds every finding to what it must say.
func checkWords(t *testing.T, fs []finding.Finding) {
	t.Helper()
	for _, f := range fs {
		if f.Object == "" || f.Observed == "" || f.Why == "" || f.Source == "" || f.Phase == "" {
			t.Errorf("a finding without object, observed, why, source or phase: %+v", f)
		}
		if f.Severity > finding.Info && (f.Remedy == "" || f.When == "") {
			t.Errorf("a finding without remedy or time: %+v", f)
		}
	}
}

// clone is a deep copy.
func clone(t testing.TB, inv *inventory.Inventory) *inventory.Inventory {
	t.Helper()
	data, err := json.Marshal(inv)
	if err != nil {
		t.Fatal(err)
	}
	var c inventory.Inventory
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return &c
}
