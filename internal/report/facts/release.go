package facts

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
)

// Release writes all that is known of one release, with the evidence of each row.
func Release(w io.Writer, c *catalog.Catalog, a *catalog.About) error {
	_, err := fmt.Fprintf(w, "OpenShift %s: Kubernetes %s, kubelets from %s on, updates to %s\n", cmp.Or(a.Patch, a.OpenShift), a.Kubernetes,
		cmp.Or(a.OldestKubelet, "an unknown version"), cmp.Or(strings.Join(a.Next, ", "), "none known"))
	if err != nil {
		return err
	}
	evidence := [][]catalog.Evidence{a.Evidence}
	for _, part := range []func(*catalog.Catalog, *catalog.About) ([][]string, []catalog.Evidence){shipped, windows, forks, operator, migration, gates, demanded} {
		rows, more := part(c, a)
		evidence = append(evidence, more)
		if len(rows) < 2 {
			continue
		}
		fmt.Fprintln(w)
		if err := table(w, rows); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "\nEvidence:")
	return sources(w, evidence...)
}

func shipped(c *catalog.Catalog, a *catalog.About) (rows [][]string, evidence []catalog.Evidence) {
	rows = [][]string{{"DRIVER", "VERSION", "PATCHES", "CERTAINTY"}}
	for _, d := range c.Drivers {
		for _, s := range a.Drivers[d.Name] {
			rows = append(rows, []string{d.Name, cmp.Or(s.Version, "unknown"), patches(a.OpenShift, s), string(s.Certainty)})
			evidence = append(evidence, s.Evidence...)
		}
	}
	return rows, evidence
}

// windows is what the same versions need on Windows.
func windows(_ *catalog.Catalog, a *catalog.About) (rows [][]string, evidence []catalog.Evidence) {
	rows = [][]string{{"ON WINDOWS", "VERSION", "HOSTPROCESS", "CSI-PROXY", "WINDOWS BUILDS"}}
	for _, d := range a.Windows {
		if d.Line == nil {
			rows = append(rows, []string{d.Driver, d.Version, "doesn't run there"})
			continue
		}
		uses := api(d.Line.API)
		if len(d.Missing) > 0 {
			uses += "; WMCO's lacks " + strings.Join(d.Missing, ", ")
		}
		rows = append(rows, []string{d.Driver, d.Version, string(d.Line.HostProcess), uses, builds(d.Line.Builds)})
		evidence = append(evidence, d.Line.Evidence...)
	}
	for _, name := range a.WindowsManaged {
		rows = append(rows, []string{name, "", "its operator deploys it"})
	}
	return rows, evidence
}

// forks are the newest commits of the release's branches, drivers' and sidecars'.
func forks(c *catalog.Catalog, a *catalog.About) (rows [][]string, evidence []catalog.Evidence) {
	rows = [][]string{{"FORK", "NEWEST COMMIT", "VERSION", "DATE"}}
	for i := range c.Builds {
		b := &c.Builds[i]
		if h := b.Head(a.OpenShift); h != nil {
			rows = append(rows, []string{strings.TrimPrefix(b.Git, "https://github.com/"), h.Commit, h.Version, h.Date})
		}
	}
	return rows, nil
}

func operator(c *catalog.Catalog, a *catalog.About) (rows [][]string, evidence []catalog.Evidence) {
	rows = [][]string{{"WMCO", "CSI-PROXY", "ITS API GROUPS"}}
	for _, r := range a.WMCO {
		row := []string{between(r.From, r.Until), cmp.Or(r.CSIProxy, "none"), ""}
		if p := c.ProxyRelease(r.CSIProxy); p != nil {
			row[2] = strings.Join(p.Groups, ", ")
			evidence = append(evidence, p.Evidence...)
		}
		rows = append(rows, row)
		evidence = append(evidence, r.Evidence...)
	}
	return rows, evidence
}

func migration(_ *catalog.Catalog, a *catalog.About) (rows [][]string, evidence []catalog.Evidence) {
	rows = [][]string{{"IN-TREE PLUGIN", "MIGRATION ON LINUX", "ON WINDOWS"}}
	for _, m := range a.Migration {
		rows = append(rows, []string{m.InTree, string(m.Linux), string(m.Windows)})
		evidence = append(evidence, m.Evidence...)
	}
	return rows, evidence
}

func gates(_ *catalog.Catalog, a *catalog.About) (rows [][]string, evidence []catalog.Evidence) {
	rows = [][]string{{"GATE", "UPDATE", "APPLIES TO"}}
	for _, g := range a.Gates {
		rows = append(rows, []string{g.Key, g.From + " to " + g.To, g.Applies})
		evidence = append(evidence, g.Evidence...)
	}
	return rows, evidence
}

// demanded are the files that the release's operator reads below /payload.
func demanded(_ *catalog.Catalog, a *catalog.About) (rows [][]string, evidence []catalog.Evidence) {
	rows = [][]string{{"WMCO'S PAYLOAD", "DEMANDED", "COPIED TO NODES"}}
	for _, f := range a.Payload {
		when := map[catalog.When]string{catalog.Start: "to start", catalog.Configure: "to configure a node"}[f.When]
		evidence = append(evidence, catalog.Evidence{Source: f.Source, Note: "what WMCO demands " + when})
		if len(f.Platforms) > 0 {
			when += " on " + strings.Join(f.Platforms, ", ")
		}
		copied := "all"
		if len(f.Nodes) > 0 {
			copied = "on " + strings.Join(f.Nodes, ", ")
		}
		rows = append(rows, []string{f.Path, when, copied})
	}
	return rows, evidence
}

// published writes where the project puts what an admin deploys: images as a
// table, and under it the manifests, whose addresses and commands are too long
// for a column.
func published(w io.Writer, d *catalog.Driver) error {
	if len(d.Published) == 0 {
		_, err := fmt.Fprintln(w, "\nWhere the project publishes its Windows DaemonSet isn't known.")
		return err
	}
	rows := [][]string{{"PUBLISHED", "KIND", "IMAGE"}}
	for i := range d.Published {
		p := &d.Published[i]
		rows = append(rows, []string{between(p.From, p.Until), kind(p), images(p)})
	}
	fmt.Fprintln(w)
	if err := table(w, rows); err != nil {
		return err
	}
	for i := range d.Published {
		p := &d.Published[i]
		if _, err := fmt.Fprintf(w, "\n%s, %s: %s\n", clean(between(p.From, p.Until)), kind(p), clean(manifest(p))); err != nil {
			return err
		}
	}
	return nil
}

func kind(p *catalog.Publication) string {
	if p.HostProcess {
		return "HostProcess"
	}
	return "csi-proxy or the only one"
}

func images(p *catalog.Publication) string {
	text := p.Repository
	switch {
	case text == "" && len(p.Former) > 0:
		text = "nowhere any more"
	case text == "":
		text = "not known"
	}
	if len(p.Also) > 0 {
		text += " (also " + strings.Join(p.Also, ", ") + ")"
	}
	if p.Unsure {
		text += ", not every version's was seen there"
	}
	if len(p.Former) > 0 {
		text += "; gone: " + strings.Join(p.Former, ", ")
	}
	return text
}

// manifest is what brings the DaemonSet; {{version}} in it is for one of
// the range.
func manifest(p *catalog.Publication) string {
	text := ""
	switch {
	case p.Deploys != "":
		return p.Deploys + " brings the DaemonSet"
	case p.Render != "":
		return p.Render
	case p.HasManifest():
		text = p.Manifest
	default:
		return "where the manifest is wasn't seen"
	}
	if p.SetImage {
		text += ", with its image set to that of the version"
	}
	if len(p.Missing) > 0 {
		text += ", which isn't there for " + strings.Join(p.Missing, ", ")
	}
	return text
}
