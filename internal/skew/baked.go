package skew

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/shell"
	"github.com/winbake/winbake/internal/version"
)

// baked is a folder that `bake manifests csi-driver` writes: a remedy names it
// only where the command would really write that version in that mode.
type baked struct {
	driver, release string
	// mode, windows and registry are flags that are needed, "" where they aren't.
	mode, windows, registry string
	hostProcess             bool
	// keeps is the DaemonSet whose name, nodes and mirror it keeps; nil for none:
	// then it is for all Windows nodes.
	keeps *inventory.Driver
}

func (b baked) folder() string {
	if b.keeps != nil {
		return b.driver + "-" + b.release + "-" + b.keeps.Object.Name
	}
	return b.driver + "-" + b.release
}

// old is the file that the DaemonSet is kept in; command reads it.
func (b baked) old() string { return b.keeps.Object.Name + "-old.yaml" }

// fetch writes that file; "" where nothing is kept.
func (b baked) fetch() string {
	if b.keeps == nil {
		return ""
	}
	return fmt.Sprintf("oc %sget daemonset %s -o yaml > %s", namespace(b.keeps), b.keeps.Object.Name, b.old())
}

func (b baked) command() string {
	line := "bake manifests csi-driver " + b.driver + " --for " + b.release
	if b.keeps != nil {
		line = "bake manifests csi-driver --upgrade-from " + b.old() + " --for " + b.release
	}
	for _, flag := range [][2]string{{"mode", b.mode}, {"windows", b.windows}, {"registry", b.registry}} {
		if flag[1] != "" {
			line += " --" + flag[0] + " " + shell.Word(flag[1])
		}
	}
	return line + " --out " + b.folder()
}

// deploy are the commands that write the folder and apply it.
func (b baked) deploy() string { return laidOut(b.fetch(), b.command(), "oc apply -f "+b.folder()) }

// bakes is the folder with a version of the driver in a mode; false where no
// release has it. The releases that the hop is about come first.
func (v *view) bakes(d *inventory.Driver, to version.Driver, hostProcess bool) (baked, bool) {
	if v.Catalog == nil || v.leaves() {
		return baked{}, false
	}
	b, ok := v.bakedFor(v.Catalog.Name, to, hostProcess, windowsOf(v.Nodes))
	if b.keeps = v.scoped(d); b.keeps != nil {
		b.mode = modeFlag(hostProcess) // else it would keep the old one's
		return b, ok
	}
	b.registry = mirrorOf(v.Catalog, d.Image.Repository, to, hostProcess)
	return b, ok
}

func modeFlag(hostProcess bool) string {
	if hostProcess {
		return string(csidriver.HostProcess)
	}
	return string(csidriver.Pipes)
}

// scoped is a DaemonSet whose successor mustn't run on all Windows nodes: it is
// for some of them, and others of its driver are for the rest. nil for another.
func (v *view) scoped(d *inventory.Driver) *inventory.Driver {
	if !chooses(d.Scheduling) || len(v.besides(d)) == 0 {
		return nil
	}
	return d
}

// besides are the other Windows DaemonSets of its driver that run anywhere.
func (v *view) besides(d *inventory.Driver) []string {
	var names []string
	for _, o := range v.windows() {
		if o.Provisioner == d.Provisioner && o.Object != d.Object && !v.idle(o) {
			names = append(names, o.Object.String())
		}
	}
	return names
}

// common are labels that tell no Windows node from another.
var common = []string{"kubernetes.io/os", "beta.kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/arch"}

// chooses tells whether a DaemonSet is for some of the Windows nodes alone.
func chooses(s inventory.Scheduling) bool {
	for key := range s.NodeSelector {
		if !slices.Contains(common, key) {
			return true
		}
	}
	return slices.ContainsFunc(s.Terms, func(t inventory.Term) bool {
		return len(t.Fields) > 0 || slices.ContainsFunc(t.Expressions, func(e inventory.Expression) bool { return !slices.Contains(common, e.Key) })
	})
}

func (w *world) bakedFor(driver string, to version.Driver, hostProcess bool, windows string) (baked, bool) {
	key := fmt.Sprintf("baked %s %s %t %s %d %s", driver, to.Core(), hostProcess, windows, w.Hop, w.Phase)
	found := memo(w.index, key, func() *baked {
		for _, release := range w.releasesToBake() {
			v, host, err := csidriver.Choose(w.cat, csidriver.Options{Driver: driver, For: release, Windows: windows})
			b := baked{driver: driver, release: release.String(), windows: windows}
			if err == nil && v.Core() == to.Core() && host != hostProcess {
				b.mode = modeFlag(hostProcess)
				v, host, err = csidriver.Choose(w.cat, csidriver.Options{Driver: driver, For: release, Windows: windows, Mode: csidriver.Mode(b.mode)})
			}
			if err == nil && v.Core() == to.Core() && host == hostProcess {
				b.hostProcess = host
				return &b
			}
		}
		return nil
	})
	if found == nil {
		return baked{}, false
	}
	return *found, true
}

// releasesToBake are those of the hop, then all that the catalog knows.
func (w *world) releasesToBake() []version.OpenShift {
	var list []version.OpenShift
	for _, r := range []version.OpenShift{w.Release(), w.To, w.From} {
		if !r.IsZero() {
			list = append(list, r)
		}
	}
	for _, r := range w.cat.Releases {
		if v, err := version.ParseOpenShift(r.OpenShift); err == nil {
			list = append(list, v)
		}
	}
	return list
}

// bakedAgain brings a DaemonSet that bake wrote to another version: bake writes
// it anew, under the same name.
func (v *view) bakedAgain(d *inventory.Driver, to version.Driver, file bool) (change, bool) {
	host := publicationKind(v.Catalog.Line(to), d.HostProcess)
	b, ok := v.bakes(d, to, host)
	if !ok || file {
		return change{}, false
	}
	return change{
		What:    fmt.Sprintf("bring the DaemonSet of %s that bake wrote to v%s: write it anew, and apply it", v.Catalog.Title, to.Core()),
		Command: b.deploy(), Manifest: true, to: to, file: b.folder() + "/" + csidriver.DaemonSetFile, baked: true, hostProcess: host,
	}, true
}

// newDaemonSet are the commands that deploy a driver which isn't there yet; ""
// where no folder can be written for the release.
func (w *world) newDaemonSet(cat *catalog.Driver, release version.OpenShift, nodes []*inventory.Node) string {
	if cat == nil || release.IsZero() {
		return ""
	}
	b := baked{driver: cat.Name, release: release.String(), windows: windowsOf(nodes)}
	if _, _, err := csidriver.Choose(w.cat, csidriver.Options{Driver: b.driver, For: release, Windows: b.windows}); err != nil {
		return ""
	}
	return b.deploy()
}

// windowsOf is --windows for nodes of one version; "" for the usual one, for
// several and where it isn't known.
func windowsOf(nodes []*inventory.Node) string {
	name := ""
	for _, n := range nodes {
		is := strings.TrimPrefix(builds[n.Build], "Windows Server ")
		if name != "" && is != name {
			return ""
		}
		name = is
	}
	if name == csidriver.WindowsVersions()[0] || !csidriver.KnowsWindows(name) {
		return ""
	}
	return name
}

// mirrorOf is the mirror that an image was taken from, "" where it is the
// project's own, or the path isn't the project's.
func mirrorOf(cat *catalog.Driver, repository string, to version.Driver, hostProcess bool) string {
	p := cat.Publication(to, hostProcess)
	if p == nil || repository == "" || cat.Publishes(repository) {
		return ""
	}
	_, inside, _ := strings.Cut(p.Repository, "/")
	mirror, ok := strings.CutSuffix(repository, "/"+inside)
	if !ok || path.Base(mirror) == path.Base(inside) {
		return ""
	}
	return mirror
}
