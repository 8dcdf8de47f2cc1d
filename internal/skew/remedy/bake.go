package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

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

// windowsName is --windows for nodes of one version; "" for the usual one, for
// several and where it isn't known.
func windowsName(nodes []*inventory.Node) string {
	names := snapshot.Unique(snapshot.Map(nodes, func(n *inventory.Node) string { return strings.TrimPrefix(snapshot.Builds[n.Build], "Windows Server ") }))
	if unusual := csidriver.WindowsVersions()[1:]; len(names) == 1 && slices.Contains(unusual, names[0]) {
		return names[0]
	}
	return ""
}
