// Package verify is the verify command: it wires readers, checks and reports
// together. It changes nothing that it looks at.
package verify

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/skew"
	"github.com/winbake/winbake/packer/lint"
)

//go:embed help
var help embed.FS

type tool struct {
	*app.App
	format  string
	failOn  finding.FailOn
	accept  []string
	verbose bool
}

// reports gives a command the flags of findings. Commands below it accept as it does.
func (t *tool) reports(cmd *cobra.Command) {
	f, all := cmd.Flags(), cmd.PersistentFlags()
	if f.Lookup("output") == nil {
		f.StringVarP(&t.format, "output", "o", "text", "text, json or junit")
		app.Choices(cmd, "output", report.Formats...)
	}
	f.Var(&t.failOn, "fail-on", "least severity that fails: block, unknown or warn")
	app.Choices(cmd, "fail-on", finding.FailOnNames...)
	f.BoolVarP(&t.verbose, "verbose", "v", false, "list passed checks too")
	all.StringArrayVar(&t.accept, "accept", nil, "finding to accept, ID or ID=object; may be repeated")
}

// finish writes the report and turns findings into an exit code.
func (t *tool) finish(r report.Report) error {
	r.Findings = finding.Accept(r.Findings, t.accept)
	r.FailOn, r.Tool, r.Version = t.failOn, "verify", app.Version()
	color := t.format == "text" && t.Color()
	if err := report.Write(t.Stdout, t.format, r, report.Options{Color: color, Verbose: t.verbose}); err != nil {
		return err
	}
	return t.exit(r.Findings)
}

// exit is the exit code that findings make, and nil for 0.
func (t *tool) exit(found []finding.Finding) error {
	if code := t.failOn.ExitCode(found); code != finding.ExitOK {
		return app.ExitCode(code)
	}
	return nil
}

// pinned is what versions.yaml and its lock say of a payload, of programs
// by path below /payload.
type pinned struct {
	file       *pins.File
	components []pins.Ready
	programs   map[string]*expect.Program
}

// loadPinned reads versions.yaml and its lock. only narrows it to some
// components.
func loadPinned(path string, only []string) (*pinned, error) {
	file, err := pins.Load(path)
	if err != nil {
		return nil, err
	}
	p := &pinned{file: file, programs: map[string]*expect.Program{}}
	p.components, err = file.Ready(only, os.Getenv("SOURCE_DATE_EPOCH"))
	for _, c := range p.components {
		if c.Program() {
			p.programs[c.Payload] = expect.For(c.Component, file, c.Locked, c.Stamps)
		}
	}
	return p, err
}

// await runs work that may stand still where a context doesn't reach: opening a
// pipe that nobody writes to, reading a terminal. Once ctx is done its answer
// isn't waited for, and it ends with the process.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := work()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// acceptedRules are the values of --accept with the rules' own spelling. A
// rule that doesn't exist would accept nothing without a word.
func acceptedRules(accept, ids []string) ([]string, error) {
	var list []string
	for _, a := range accept {
		id, object, one := strings.Cut(a, "=")
		if i := slices.IndexFunc(ids, func(known string) bool { return strings.EqualFold(known, id) }); i >= 0 {
			id = ids[i]
		} else if _, gone := skew.ExplainRetired(strings.ToUpper(id)); gone {
			id = strings.ToUpper(id)
		} else {
			return nil, &fault.Error{What: "--accept " + a + ": there is no rule " + id, Fix: "one of " + strings.Join(ids, ", ")}
		}
		if one {
			id += "=" + object
		}
		list = append(list, id)
	}
	return list, nil
}

func newTemplate(t *tool) *cobra.Command {
	var o lint.Options
	cmd := &cobra.Command{
		Use:  "template DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids := slices.Clone(lint.Retired)
			for _, r := range lint.Rules() {
				ids = append(ids, r.ID)
			}
			var err error
			if t.accept, err = acceptedRules(t.accept, ids); err != nil {
				return err
			}
			result, err := await(cmd.Context(), func() (*lint.Result, error) { return lint.Check(args[0], o) })
			if err != nil {
				return err
			}
			notes := []string{fmt.Sprintf("profile: %s; builders: %s", cmp.Or(o.Profile, "none"), cmp.Or(strings.Join(result.Sources, ", "), "none"))}
			if len(result.Linux) > 0 {
				notes = append(notes, "of Linux, and not checked: "+strings.Join(result.Linux, ", "))
			}
			return t.finish(report.Report{Subject: args[0], Findings: result.Findings, Checked: inventory.Many(result.Files, "file"), Notes: notes})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Profile, "profile", "", "openshift or generic: hold the template to what their nodes need as well")
	f.StringArrayVar(&o.VarFiles, "var-file", nil, "values of the build, as for packer; may be repeated")
	app.Choices(cmd, "profile", lint.Profiles()...)
	return cmd
}
