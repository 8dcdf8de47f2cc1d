package skewreport

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/shell"
)

//go:embed script.sh
var scriptFrame string

// Script writes a plan as a bash script that does the steps in order, and can be
// run again from the start at any point. See script.sh for what is around them.
func Script(w io.Writer, r Report) error {
	t := r.Target
	r.Target.Flags, r.Target.Kubectl = nil, false // the script's oc has them
	return write(w, r, func(d *Document) (string, error) { return encodeScript(d, t), nil })
}

func encodeScript(d *Document, t Target) string {
	d = d.display()
	head, foot, _ := strings.Cut(scriptFrame, "# STEPS\n")
	s := &script{}
	fmt.Fprintf(s, "#!/usr/bin/env bash\n# %s. Written by %s %s, catalog of %s.\n", d.planTitle(), d.Tool.Name, d.Tool.Version, d.Catalog.AsOf)
	// A plan for no update is of its day: the next one begins from another state.
	folder := d.From + "-" + cmp.Or(d.To, d.Date)
	program, identity, id := "oc", "clusterversion/version", "{.spec.clusterID}"
	if t.Kubectl {
		program, identity, id = "kubectl", "namespace/kube-system", "{.metadata.uid}"
	}
	for _, v := range [][2]string{{"program", program}, {"identity", identity}, {"id", id}, {"cluster", d.Cluster.ID}, {"folder", strings.ReplaceAll(folder, "/", "_")}, {"kubeconfig", t.Kubeconfig}, {"context", d.Cluster.Context}} {
		fmt.Fprintf(s, "%s=%s\n", v[0], shell.Quote(printable.OneLine(v[1])))
	}
	s.WriteString(head)
	for i, step := range d.Steps {
		for j, a := range step.Actions {
			s.action(fmt.Sprintf("%d_%d", i+1, j+1), d.due(step), a)
		}
	}
	s.WriteString(foot)
	return s.String()
}

type script struct{ strings.Builder }

// action writes the functions of one action, and puts it into the list of steps.
func (s *script) action(n, when string, a finding.Action) {
	s.lines("run", n, a.Commands)
	s.lines("wait", n, a.Wait)
	s.lines("undo", n, a.Undo)
	for _, test := range [][2]string{{"done", a.Done}, {"final", a.Final}} {
		if test[1] != "" {
			s.lines(test[0], n, []string{test[1]})
		}
	}
	var asks []string
	first := false
	for _, ask := range a.Asks {
		asks = append(asks, "value "+ask.Name+" "+shell.Quote(ask.Text)+" "+shell.Quote(ask.Command))
		first = first || ask.UsedIn(a.Done)
	}
	// Each in the script's own shell, so that all lines of an action see the value.
	if len(asks) > 0 {
		fmt.Fprintf(s, "ask_%s() {\n%s\n}\n", n, strings.Join(asks, "\n"))
	}
	person := a.Judge
	if a.Kind == "by-hand" && person == "" {
		person = "a person must do this"
	}
	fmt.Fprintf(s, "step %s %s %s %s %s %s %t\n\n", n, shell.Quote(when), shell.Quote(a.Summary), shell.Quote(person), shell.Quote(strings.Join(notes(a), "; ")), shell.Quote(a.NoUndo), first)
}

func notes(a finding.Action) []string {
	list := a.Needs
	if a.Interrupts != "" {
		list = append(list[:len(list):len(list)], a.Interrupts)
	}
	return list
}

// lines writes a function that ends at the first line that fails.
func (s *script) lines(name, n string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(s, "%s_%s() (\nset -e\n%s\n)\n", name, n, strings.Join(lines, "\n"))
	}
}
