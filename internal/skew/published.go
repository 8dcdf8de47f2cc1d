package skew

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/version"
)

// manifestChange replaces a DaemonSet by the project's own of another version.
func manifestChange(d *inventory.Driver, cat *catalog.Driver, hostProcess bool, to version.Driver, why string, file bool) change {
	c := change{Manifest: true, to: to}
	place, render := manifestOf(cat, hostProcess, to)
	c.What = fmt.Sprintf("replace %s by the Windows node DaemonSet of the project's manifest for v%s, %s (that DaemonSet alone, without controller and CSIDriver%s; the tag alone isn't enough: %s)",
		d.Object, to.Core(), place, home(d), why)
	if file {
		return c
	}
	c.file = manifestFile(to)
	if render != "" {
		render += " > " + c.file
	}
	c.Command = laidOut(render, fmt.Sprintf("oc %sdelete daemonset %s", namespace(d), d.Object.Name), "oc apply -f "+c.file)
	return c
}

// bakedChange replaces a DaemonSet by the one that bake writes, in OpenShift's
// own namespace for drivers. The folder brings what its pods need, but for the
// level of that namespace, which OpenShift sets.
func (v *view) bakedChange(d *inventory.Driver, b baked, to version.Driver, why string, file bool) change {
	c := change{Manifest: true, to: to, file: b.folder() + "/" + csidriver.DaemonSetFile, baked: true, hostProcess: b.hostProcess}
	c.What = fmt.Sprintf("replace %s by the Windows node DaemonSet of v%s that bake writes (the tag alone isn't enough: %s)", d.Object, to.Core(), why)
	switch {
	case b.keeps != nil && file:
		c.What += fmt.Sprintf("; %s holds the present one alone, and the new one keeps its name and nodes: %s runs the driver on others", b.old(), few(v.besides(d)))
	case b.keeps != nil:
		c.What += fmt.Sprintf("; it keeps the name and the nodes: %s runs the driver on others", few(v.besides(d)))
	}
	if file {
		c.Command = b.command()
		return c
	}
	level := ""
	ns := v.inv.Cluster.Namespace(csidriver.OperatorNamespace)
	if (b.keeps == nil || d.Object.Namespace == csidriver.OperatorNamespace) && ns != nil && !ns.Privileged() {
		level = "oc label namespace " + ns.Name + " pod-security.kubernetes.io/enforce=privileged --overwrite"
	}
	c.Command = laidOut(level, b.fetch(), b.command(), fmt.Sprintf("oc %sdelete daemonset %s", namespace(d), d.Object.Name), "oc apply -f "+b.folder())
	return c
}

func manifestFile(to version.Driver) string {
	return fmt.Sprintf("windows-daemonset-v%s.yaml", to.Core())
}

// home is where a project's DaemonSet is to run: manifests name a namespace and
// a service account of their own.
func home(d *inventory.Driver) string {
	if d.Object.Namespace == "" {
		return ""
	}
	account := "service account " + serviceAccount(d)
	if d.ServiceAccount == "" && d.Partial != "" {
		account = "its service account, which the manifest as it was read doesn't name"
	}
	return fmt.Sprintf(", in namespace %s with %s", d.Object.Namespace, account)
}

// manifestOf says where the project's manifest of a version stands, and which
// command writes it where none is published.
func manifestOf(cat *catalog.Driver, hostProcess bool, to version.Driver) (place, render string) {
	const unseen = "whose place the catalog doesn't know"
	if cat == nil {
		return unseen, ""
	}
	p := cat.Publication(to, hostProcess)
	switch {
	case p == nil:
		return unseen, ""
	case p.Deploys != "":
		return "which " + p.Deploys + " brings", ""
	case p.Render != "":
		return "which the project's Helm chart writes", p.RenderCommand(to)
	case p.ManifestURL(to) == "":
		return unseen, ""
	case p.SetImage:
		return fmt.Sprintf("%s with its image set to %s", p.ManifestURL(to), projectImage(p, cat, hostProcess, to)), ""
	}
	return p.ManifestURL(to), ""
}

// projectImage is the image of a version in the project's own repository.
func projectImage(p *catalog.Publication, cat *catalog.Driver, hostProcess bool, to version.Driver) string {
	return p.Repository + ":" + tagOf(cat, hostProcess, to)
}

func tagOf(cat *catalog.Driver, hostProcess bool, to version.Driver) string {
	tag := "v" + to.Core()
	if cat != nil && hostProcess {
		if line := cat.Line(to); line != nil && line.ImageSuffix != "" {
			tag += "-" + line.ImageSuffix
		}
	}
	return tag
}

// atLine is the line and column behind a file's name.
var atLine = regexp.MustCompile(`(:[0-9]+)+$`)

// plannedFile is the file that a planned driver was read from.
func plannedFile(d *inventory.Driver) string {
	where := d.Version.At.Where
	for _, e := range d.Evidence {
		where = cmp.Or(where, e.Where)
	}
	file := atLine.ReplaceAllString(where, "")
	if file == "" || file == "-" {
		return "planned.yaml"
	}
	return file
}
