package clusterfiles

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/manifests/csidriver/present"
	"github.com/winbake/winbake/internal/shell"
)

// readOld reads the DaemonSet of --upgrade-from. driver is what was asked for,
// "" to take the file's.
func readOld(cat *catalog.Catalog, name, driver string) (*csidriver.Old, error) {
	text, err := infile.Read(name, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: name, What: "can't read the old DaemonSet: " + err.Error(), Fix: "oc get daemonset NAME -o yaml > " + shell.Word(name), Err: err}
	}
	old, err := present.Parse(cat, name, text)
	if err != nil {
		return nil, err
	}
	if driver != "" && driver != old.Driver {
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("the DaemonSet in it runs %s, not %s", old.Driver, driver), Fix: "leave the driver's name out, or give another file"}
	}
	return old, nil
}

// csiReport is what the command says: JSON, or lines for people.
type csiReport struct {
	Driver      string `json:"driver"`
	Version     string `json:"version"`
	OpenShift   string `json:"openshift"`
	HostProcess bool   `json:"hostProcess"`
	// Upgrade is what changes of --upgrade-from.
	Upgrade *csidriver.Upgrade `json:"upgrade,omitempty"`
	// Folder is what was written, Files its files in their order, Next the commands
	// to run next.
	Folder string   `json:"folder,omitempty"`
	Files  []string `json:"files,omitempty"`
	Next   []string `json:"next,omitempty"`
	Notes  []string `json:"notes,omitempty"`

	title string
}

// wrote adds the folder, and what to run next.
func (r *csiReport) wrote(folder *csidriver.Folder, o *csiDriverOptions) {
	out := o.out
	r.Folder = out
	for _, f := range folder.Files {
		r.Files = append(r.Files, f.Name)
	}
	check := fmt.Sprintf("verify skew --from %s --manifests %s --static", r.OpenShift, shell.Path(out))
	for _, rows := range o.catalog.Paths {
		check += " --catalog " + shell.Word(rows)
	}
	r.Next = []string{check}
	path := func(name string) string { return shell.Path(filepath.Join(out, name)) }
	switch {
	case r.Upgrade == nil:
		r.Next = append(append(r.Next, "oc apply -f "+shell.Path(out)), folder.TryOut(path)...)
	case r.Upgrade.Delete != "":
		r.Next = append(r.Next, r.Upgrade.Delete, "oc apply -f "+shell.Path(out))
	default:
		// An apply over what wasn't applied leaves old volumes and arguments in it.
		for _, name := range folder.Access() {
			r.Next = append(r.Next, "oc apply -f "+path(name))
		}
		r.Next = append(r.Next, "oc replace -f "+path(csidriver.DaemonSetFile))
	}
}

// lines are the report for people: what changes as a diff, by the reasons for
// it, and what to run next.
func (r *csiReport) lines() [][]string {
	var rows [][]string
	say := func(format string, args ...any) { rows = append(rows, []string{fmt.Sprintf(format, args...)}) }
	if u := r.Upgrade; u != nil {
		say("%s: v%s -> v%s, for OpenShift %s", r.title, cmp.Or(u.From, "(unknown)"), r.Version, r.OpenShift)
		if u.Back {
			say("")
			say("This goes back to an older version. Nothing forbids a newer one on Windows.")
		}
		r.changes(say)
		if u.Delete != "" {
			say("")
			say("The old DaemonSet must go first: %s.", u.DeleteWhy)
			say("Until the new pods are ready, Windows pods can't mount volumes that they don't have yet. The way back: delete the new DaemonSet, and oc create -f the old one's manifest.")
		}
		say("")
	}
	for _, command := range r.Next {
		say("%s", command)
	}
	return rows
}

// changes says what changes and then what is kept, below the reason for each.
func (r *csiReport) changes(say func(string, ...any)) {
	last := ""
	reason := func(why string) {
		if why != last {
			say("")
			say("%s:", why)
		}
		last = why
	}
	for _, c := range r.Upgrade.Changes {
		reason(c.Why)
		if c.From != "" {
			say("  - %s: %s", c.Where, c.From)
		}
		if c.To != "" {
			say("  + %s: %s", c.Where, c.To)
		}
	}
	if len(r.Upgrade.Changes) == 0 {
		say("")
		say("Nothing changes.")
	}
	last = ""
	for _, k := range r.Upgrade.Kept {
		reason(k.Why)
		say("  = %s: %s", k.Where, k.What)
	}
}
