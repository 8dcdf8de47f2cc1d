package remedy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// serviceAccount is what a driver's pods run as; "" of a manifest that isn't
// whole, where the rest may say it.
func serviceAccount(d *inventory.Driver) string {
	if d.Partial != "" {
		return d.ServiceAccount
	}
	return cmp.Or(d.ServiceAccount, "default")
}

// Tolerate has a driver run on every node that it selects.
func Tolerate(d *inventory.Driver) []action.Action {
	to := *d
	to.Scheduling.Tolerations = []inventory.Toleration{{Operator: "Exists"}}
	return []action.Action{action.EditDriver{
		Object: d.Object, Becomes: &to, Strategy: d.Strategy,
		Patch: `{"spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}}}}`,
		Text:  fmt.Sprintf("give the pods of %s the toleration operator: Exists, which takes all nodes that it selects", d.Object),
	}}
}

// UpdateWMCO brings WMCO to its release for a minor. Nodes of a cluster without it are
// kept by a person.
func UpdateWMCO(snap *snapshot.Snapshot, minor string) []action.Action {
	if !snap.UsesWMCO() {
		return []action.Action{action.ByHand{Text: fmt.Sprintf("update the Windows nodes to kubelet and containerd of OpenShift %s the way they were set up: no WMCO keeps them", minor)}}
	}
	up := WMCOOf(snap, minor)
	up.Unseen = snap.Hops == 0 && snap.From.Minor%2 == 0 && snap.Inventory.Cluster.WMCO == "" && slices.ContainsFunc(snap.Nodes, func(n *inventory.Node) bool {
		r := snap.WMCORow(n.WMCO) // over two minors an update is made without it
		return r != nil && r.OpenShift != minor && !snap.Precedes(r.OpenShift, minor)
	})
	return []action.Action{up}
}

// WMCOOf is the operator's release for a minor, as far as the catalog knows it.
func WMCOOf(snap *snapshot.Snapshot, minor string) action.UpdateWMCO {
	up := action.UpdateWMCO{OpenShift: minor, Kubernetes: snap.Catalog.KubernetesOf(minor)}
	if list := snap.Catalog.WMCOFor(minor); len(list) > 0 {
		up.WMCO = list[len(list)-1].From
	}
	return up
}

// WMCOFrom brings WMCO to a release or a newer one of its minor.
func WMCOFrom(snap *snapshot.Snapshot, r catalog.WMCORelease) action.UpdateWMCO {
	return action.UpdateWMCO{OpenShift: r.OpenShift, WMCO: r.From, AtLeast: true, Kubernetes: snap.Catalog.KubernetesOf(r.OpenShift)}
}

// Gather reads objects of the whole cluster for the next check.
func Gather(what, file string) []action.Action {
	return []action.Action{action.Gather{Text: "give them to the check with --manifests " + file + ", or let it read the cluster", Get: []string{"get", what, "--all-namespaces", "-o", "yaml"}, File: file}}
}

// Payload gives a release's payload to the next check, in the same words for all that
// lack it.
func Payload(snap *snapshot.Snapshot, release version.OpenShift) []action.Action {
	text := "name the release to its patch, or give its payload with --release-image release.json"
	if !release.IsZero() && snap.Catalog.Release(release.MinorString()) == nil {
		text = fmt.Sprintf("where OpenShift %s is newer than the catalog give its payload with --release-image release.json, and what is known of it with --catalog", release.MinorString())
	}
	return []action.Action{action.ReadPayload{Text: text}}
}

// NameRelease asks for the release that the cluster runs. The example is one that is
// updated to the target.
func NameRelease(snap *snapshot.Snapshot) string {
	example := "4.20.3"
	if r := slices.IndexFunc(snap.Catalog.Releases, func(r catalog.Release) bool {
		return !snap.Target.IsZero() && slices.Contains(r.Next, snap.Target.MinorString())
	}); r >= 0 {
		example = snap.Catalog.Releases[r].OpenShift
	}
	return "name the release that the cluster runs: --from " + example
}

// LookAtBuild shows the build of a node's Windows.
func LookAtBuild(node string) []action.Action {
	return []action.Action{action.Gather{Text: "show the node's build", Get: []string{"get", "node/" + node, "-o", "jsonpath={.status.nodeInfo.kernelVersion}"}}}
}

// SelectNodes has a driver take nodes, which it may tolerate and doesn't select; nil
// where its node selector isn't all that keeps it off.
func SelectNodes(d *inventory.Driver, nodes []*inventory.Node) []action.Action {
	to := *d
	to.Scheduling.NodeSelector = maps.Clone(d.Scheduling.NodeSelector)
	maps.DeleteFunc(to.Scheduling.NodeSelector, func(k, v string) bool {
		return slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return n.Labels[k] != v })
	})
	left := slices.DeleteFunc(slices.Sorted(maps.Keys(d.Scheduling.NodeSelector)), func(k string) bool { _, kept := to.Scheduling.NodeSelector[k]; return kept })
	if len(left) == 0 || slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return !to.Scheduling.Matches(*n) }) {
		return nil
	}
	return []action.Action{action.EditDriver{
		Object: d.Object, Becomes: &to, Strategy: d.Strategy,
		Patch: `{"spec":{"template":{"spec":{"nodeSelector":{` + strings.Join(snapshot.Map(left, func(k string) string { return fmt.Sprintf("%q:null", k) }), ",") + `}}}}}`,
		Text:  fmt.Sprintf("let %s run on %s: take %s out of its node selector", d.Object, strings.Join(snapshot.NodeNames(nodes), ", "), strings.Join(left, ", ")),
	}}
}

// SelectWindows has a driver select nodes by their system as labels write it, where
// its selector has a capital; nil for any other.
func SelectWindows(d *inventory.Driver) []action.Action {
	for _, label := range []string{"kubernetes.io/os", "beta.kubernetes.io/os"} {
		if os := d.Scheduling.NodeSelector[label]; os == "windows" || !strings.EqualFold(os, "windows") {
			continue
		}
		return []action.Action{SelectSystem(d, label, "windows")}
	}
	return nil
}

// SelectSystem has a driver select nodes by their system.
func SelectSystem(d *inventory.Driver, label, os string) action.EditDriver {
	to := *d
	to.Scheduling.NodeSelector = map[string]string{}
	maps.Copy(to.Scheduling.NodeSelector, d.Scheduling.NodeSelector)
	to.Scheduling.NodeSelector[label] = os
	return action.EditDriver{
		Object: d.Object, Becomes: &to, Strategy: d.Strategy,
		Patch: fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{%q:%q}}}}}`, label, os),
		Text:  fmt.Sprintf("let %s select nodes by %s: %s", d.Object, label, os),
	}
}

// Baked are the options of a folder that `bake manifests csi-driver` writes: an
// action names it only where bake would really write that version in that mode.
type Baked struct {
	csidriver.Options
	catalogs []string
}

// folder is where bake writes it for a DaemonSet; nil is a new one.
func (b Baked) folder(d *inventory.Driver) string {
	name := b.Driver + "-" + b.For.String()
	if d != nil {
		name += "-" + d.Object.Name
	}
	return name
}

// words are what bake is given for a DaemonSet that is to be replaced in a file;
// "" is a new one.
func (b Baked) words(from string) []string {
	if from != "" {
		b.Old = &csidriver.Old{}
	}
	return b.Args(from, b.catalogs)
}

// Bakes is the folder with a version of the driver in a mode; false where no
// release has it. The releases that the hop is about come first.
func Bakes(v *snapshot.View, to version.Driver, hostProcess bool) (Baked, bool) {
	if v.Catalog == nil || v.OperatorTakesOver() {
		return Baked{}, false
	}
	mode := csidriver.Pipes
	if hostProcess {
		mode = csidriver.HostProcess
	}
	windows := windowsName(v.Nodes)
	key := fmt.Sprintf("baked %s %s %s %s %d %s", v.Catalog.Name, to.Core(), mode, windows, v.At.Hop, v.At.Phase)
	found := snapshot.Memo(v.At, key, func() *csidriver.Options {
		for _, release := range releasesToBake(v.At) {
			o := csidriver.Options{Driver: v.Catalog.Name, For: release, Windows: windows, Mode: mode}
			if have, host, err := csidriver.Choose(v.At.Catalog, o); err == nil && have.Core() == to.Core() && host == hostProcess {
				return &o
			}
		}
		return nil
	})
	if found == nil {
		return Baked{}, false
	}
	return Baked{*found, v.At.Request.Catalogs}, true
}

// releasesToBake are those of the hop, then all that the catalog knows.
func releasesToBake(snap *snapshot.Snapshot) []version.OpenShift {
	list := slices.DeleteFunc([]version.OpenShift{snap.Release(), snap.To, snap.From}, version.OpenShift.IsZero)
	for _, r := range snap.Catalog.Releases {
		if v, err := version.ParseOpenShift(r.OpenShift); err == nil {
			list = append(list, v)
		}
	}
	return list
}

// Deploy is what deploys a driver that has no Windows DaemonSet yet; nil where
// bake writes none for the release.
func Deploy(snap *snapshot.Snapshot, cat *catalog.Driver, release version.OpenShift, nodes []*inventory.Node) []action.Action {
	if cat == nil || release.IsZero() {
		return nil
	}
	b := Baked{csidriver.Options{Driver: cat.Name, For: release, Windows: windowsName(nodes)}, snap.Request.Catalogs}
	folder, err := csidriver.Render(snap.Catalog, b.Options)
	if err != nil {
		return nil
	}
	name, namespace, image := folder.DaemonSet()
	d := inventory.Driver{OS: "windows", Container: csidriver.Container(cat.Name), Provisioner: cat.Provisioner, Line: cat.Name, Object: inventory.Object{Kind: "DaemonSet", Namespace: namespace, Name: name},
		Scheduling: inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}, Tolerations: []inventory.Toleration{{Operator: "Exists"}}}}
	becomes := became(&d, cat, folder.Version, folder.HostProcess)
	becomes.Image.Reference = image
	return []action.Action{action.DeployDriver{Title: cat.Title, Version: folder.Version, Bake: b.words(""), Folder: b.folder(nil), Becomes: *becomes}}
}
