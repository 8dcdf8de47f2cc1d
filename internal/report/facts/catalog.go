package facts

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
)

// Catalog writes the table of releases and the driver versions that each
// ships. A driver that was rebased inside a release has both versions.
func Catalog(w io.Writer, c *catalog.Catalog) error {
	head := []string{"OPENSHIFT", "KUBERNETES"}
	var names []string
	for _, d := range c.Drivers {
		if d.Payload != "" || d.OLM {
			names = append(names, d.Name)
			head = append(head, strings.ToUpper(d.Name))
		}
	}
	rows := [][]string{head}
	for _, r := range c.Releases {
		row := []string{r.OpenShift, r.Kubernetes}
		for _, name := range names {
			row = append(row, versions(r.Drivers[name]))
		}
		rows = append(rows, row)
	}
	if err := table(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nLooked at on %s. Where a version came with a patch release, that is written behind it.\n", clean(c.AsOf))
	return err
}

func versions(rows []catalog.Shipped) string {
	if len(rows) == 0 {
		return "-"
	}
	var all []string
	for i, s := range rows {
		v := cmp.Or(s.Version, "unknown")
		if i > 0 && s.FromZ != nil {
			v += fmt.Sprintf(" (.%d)", *s.FromZ)
		}
		all = append(all, v)
	}
	return strings.Join(all, ", ")
}

func patches(minor string, s catalog.Shipped) string {
	text := "all"
	switch {
	case s.FromZ != nil && s.UntilZ != nil:
		text = fmt.Sprintf("%s.%d to .%d", minor, *s.FromZ, *s.UntilZ)
	case s.FromZ != nil:
		text = fmt.Sprintf("from %s.%d", minor, *s.FromZ)
	case s.UntilZ != nil:
		text = fmt.Sprintf("to %s.%d", minor, *s.UntilZ)
	}
	if s.Head != "" {
		text += " (head of the branch on " + s.Head + ")"
	}
	if s.FuzzyZ > 0 {
		text += fmt.Sprintf(" (give or take %d)", s.FuzzyZ)
	}
	return text
}

// Driver writes what is known of one driver, with its evidence.
func Driver(w io.Writer, c *catalog.Catalog, d *catalog.Driver) error {
	fmt.Fprintf(w, "%s (%s): provisioner %s", d.Title, d.Name, d.Provisioner)
	if d.InTree != "" {
		fmt.Fprintf(w, ", in-tree %s", d.InTree)
	}
	fmt.Fprint(w, "\n\n")
	rows := [][]string{{"VERSIONS", "HOSTPROCESS", "CSI-PROXY", "WINDOWS BUILDS"}}
	evidence := [][]catalog.Evidence{d.Evidence}
	for _, l := range d.Lines {
		rows = append(rows, []string{between(l.From, l.Until), string(l.HostProcess), api(l.API), builds(l.Builds)})
		evidence = append(evidence, l.Evidence)
	}
	if err := table(w, rows); err != nil {
		return err
	}
	rows = [][]string{{"OPENSHIFT", "VERSION", "PATCHES", "CERTAINTY"}}
	for _, r := range c.Releases {
		for _, s := range r.Drivers[d.Name] {
			rows = append(rows, []string{r.OpenShift, cmp.Or(s.Version, "unknown"), patches(r.OpenShift, s), string(s.Certainty)})
			evidence = append(evidence, s.Evidence)
		}
	}
	fmt.Fprintln(w)
	if err := table(w, rows); err != nil {
		return err
	}
	if err := published(w, d); err != nil {
		return err
	}
	for i := range d.Published {
		evidence = append(evidence, d.Published[i].Evidence)
	}
	fmt.Fprintln(w, "\nEvidence:")
	return sources(w, evidence...)
}

// between is a range of versions; until "" is an open one.
func between(from, until string) string {
	if until == "" {
		return "from " + from
	}
	return from + " to before " + until
}

func api(uses []catalog.APIUse) string {
	var all []string
	for _, u := range uses {
		all = append(all, u.Group+" "+strings.Join(u.Versions, "|"))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// servers are the Windows Server versions of builds.
var servers = map[int]string{17763: "2019", 20348: "2022", 26100: "2025"}

func builds(list []int) string {
	var all []string
	for _, b := range list {
		text := fmt.Sprint(b)
		if server := servers[b]; server != "" {
			text += " (" + server + ")"
		}
		all = append(all, text)
	}
	return cmp.Or(strings.Join(all, ", "), "not known")
}
