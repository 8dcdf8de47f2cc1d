package facts

import (
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
)

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
