package verify

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/internal/report/skewreport"
	"github.com/winbake/winbake/internal/skew"
)

type skewOptions struct {
	inputs
	from, to string
	static   bool
	eus      bool
	explain  string
	details  bool
}

func newSkew(t *tool) *cobra.Command {
	var o skewOptions
	output := app.Output{Kinds: map[string]any{"RuleList": []skew.Rule{}, "RetiredRule": skew.Retired{}}, Formats: skewreport.Formats}
	cmd := &cobra.Command{
		Use:  "skew",
		Args: noPaths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.format = output.String(); o.explain != "" {
				return explain(t.Stdout, &output, o.explain)
			}
			return t.skew(cmd, o)
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.explain, "explain", "", "tell what a rule compares, why, and what to do, and read nothing: an ID, or all")
	f.BoolVar(&o.details, "details", false, "text: show what was observed and expected, with evidence and source, and all steps; json: add the inventory that was read")
	output.Register(cmd)
	app.Complete(cmd, "explain", cobra.FixedCompletions(append(ruleIDs(), "all"), cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(newPlan(t), newRole(t))
	return cmd
}

func (o *skewOptions) register(cmd *cobra.Command) {
	o.inputs.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "OpenShift release that the cluster runs, 4.19 or 4.19.12 (default: as read from the cluster)")
	f.StringVar(&o.to, "to", "", "OpenShift release to update to; without it the check after an update")
	f.BoolVar(&o.static, "static", false, "the manifests have no cluster behind them: leave out the rules that need nodes or volumes, and say so")
	f.BoolVar(&o.eus, "eus", false, "plan a Control Plane Only (EUS to EUS) update, two minors at once (default: as the channel, eus-*, or pools of workers that are all paused say)")
	app.Complete(cmd, "from", o.catalog.Releases)
	app.Complete(cmd, "to", o.catalog.Releases)
}

func (t *tool) skew(cmd *cobra.Command, o skewOptions) error {
	r, err := t.answer(cmd, o)
	if err != nil {
		return err
	}
	color := t.format == "text" && t.Color()
	if err := skewreport.Write(t.Stdout, t.format, r, skewreport.Options{Color: color, Details: o.details, Verbose: t.verbose, Width: app.Width(t.Stdout)}); err != nil {
		return err
	}
	return t.exit(r.Result.Findings)
}

// answer is judge, and ends with the command's context.
func (t *tool) answer(cmd *cobra.Command, o skewOptions) (skewreport.Report, error) {
	return await(cmd.Context(), func() (skewreport.Report, error) { return t.judge(cmd.Context(), cmd, o) })
}

func (t *tool) judge(ctx context.Context, cmd *cobra.Command, o skewOptions) (skewreport.Report, error) {
	if err := o.check(); err != nil {
		return skewreport.Report{}, err
	}
	rules, err := acceptedRules(t.accept, ruleIDs())
	if err != nil {
		return skewreport.Report{}, err
	}
	today, err := day()
	if err != nil {
		return skewreport.Report{}, err
	}
	known, err := o.catalog.Load()
	if err != nil {
		return skewreport.Report{}, err
	}
	inv, err := t.inventory(ctx, known, o.inputs)
	if err != nil {
		return skewreport.Report{}, err
	}
	if o.from != "" && inv.Cluster.Other == inventory.Unmarked {
		inv.Cluster.Other = "" // who asks says that it is OpenShift
	}
	other := inv.Cluster.Other != ""
	if o.from != "" && o.to == "" {
		inv.Cluster.Other = "" // the drivers are compared with those of that release
	}
	result, err := skew.Evaluate(known, inv, skew.Request{From: o.from, To: o.to, Static: o.static, EUS: o.controlPlaneOnly(cmd), Now: today, Catalogs: o.catalog.Paths})
	if err != nil {
		return skewreport.Report{}, err
	}
	result.Accept(rules)
	return skewreport.Report{
		Result: result, Inventory: inv, CatalogAsOf: known.AsOf, Today: today,
		Tool: "verify", Version: app.Version(), FailOn: t.failOn, Command: commandLine(cmd), Target: o.target(cmd, inv, other),
	}, nil
}

// target is how commands reach the cluster again, and judge it alike.
func (o *skewOptions) target(cmd *cobra.Command, inv *inventory.Inventory, other bool) skewreport.Target {
	t := skewreport.Target{Kubeconfig: o.cluster.Kubeconfig(), Flags: o.cluster.Given(), Kubectl: other}
	for _, s := range inv.Sources {
		t.Context = cmp.Or(t.Context, s.Context)
	}
	for _, name := range []string{"accept", "catalog", "image-version", "release-image"} {
		list, _ := cmd.Flags().Lookup(name).Value.(pflag.SliceValue)
		for _, v := range list.GetSlice() {
			t.Judging = append(t.Judging, "--"+name, v)
		}
	}
	return t
}

// fromAnywhere names the files of flags so that they are found from any folder: a script
// has one of its own.
func (o *skewOptions) fromAnywhere() {
	for _, list := range [][]string{o.catalog.Paths, o.images, o.releases} {
		for i, name := range list {
			path, err := filepath.Abs(name)
			if _, there := os.Stat(name); err == nil && there == nil {
				list[i] = path
			}
		}
	}
}

// controlPlaneOnly is what was asked of --eus; nil for nothing.
func (o *skewOptions) controlPlaneOnly(cmd *cobra.Command) *bool {
	if !cmd.Flags().Changed("eus") {
		return nil
	}
	return &o.eus
}

// check refuses flags that can't be, or contradict each other, before anything
// is read: a large cluster takes a while.
func (o *skewOptions) check() error {
	for _, r := range [][2]string{{"--from", o.from}, {"--to", o.to}} {
		v, err := version.ParseOpenShift(r[1])
		if err == nil && v.Major < 4 {
			err = fmt.Errorf("%s is no release of OpenShift", r[1])
		}
		if err != nil && r[1] != "" {
			return &fault.Error{What: err.Error(), Fix: r[0] + " 4.20 or " + r[0] + " 4.20.3", Err: err}
		}
	}
	switch {
	case o.static && len(o.manifests) == 0:
		return &fault.Error{What: "--static is for manifests that have no cluster behind them", Fix: "--static --manifests DIR, or leave --static out"}
	case o.eus && o.to == "":
		return &fault.Error{What: "--eus needs --to: an update over two minors", Fix: "--to 4.20"}
	}
	return nil
}

// day is today in UTC, or the day of SOURCE_DATE_EPOCH, so that a report can be
// made again: https://reproducible-builds.org/specs/source-date-epoch/.
func day() (string, error) {
	now, err := now()
	return now.UTC().Format(time.DateOnly), err
}

func now() (time.Time, error) {
	t, set, err := pins.SourceDate(os.Getenv("SOURCE_DATE_EPOCH"))
	if !set {
		t = time.Now()
	}
	return t, err
}

// commandLine is what was asked, for the report. Flags that hold secrets are
// left out: reports are passed around. A proxy's URL may hold a password. So are those
// of how the answer is written.
func commandLine(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "token" || f.Name == "proxy-url" || f.Name == "output" || f.Name == "details" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch {
			case f.Value.Type() != "bool":
				words = append(words, "--"+f.Name, shell.Word(v))
			case v == "true":
				words = append(words, "--"+f.Name)
			default: // --static false would be a word of its own
				words = append(words, "--"+f.Name+"="+v)
			}
		}
	})
	return strings.Join(words, " ")
}

func explain(w io.Writer, output *app.Output, id string) error {
	found := skew.Rules()
	if id != "all" {
		id = strings.ToUpper(id)
		if r, ok := skew.ExplainRetired(id); ok && output.String() == "json" {
			return output.JSON(w, r)
		} else if ok {
			return skewreport.ExplainRetired(w, r)
		}
		rule, ok := skew.Explain(id)
		if !ok {
			return &fault.Error{What: "there is no rule " + id, Fix: "one of " + strings.Join(ruleIDs(), ", ")}
		}
		found = []skew.Rule{rule}
	}
	if output.String() == "json" {
		return output.JSON(w, found)
	}
	return skewreport.Explain(w, found...)
}

func ruleIDs() []string {
	var ids []string
	for _, r := range skew.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

func newRole(t *tool) *cobra.Command {
	output := app.Output{Kinds: map[string]any{"AccessRights": accessRights{}}}
	cmd := &cobra.Command{Use: "role", RunE: func(*cobra.Command, []string) error {
		if output.String() == "json" {
			return output.JSON(t.Stdout, accessRights{cluster.Role()})
		}
		_, err := io.WriteString(t.Stdout, cluster.Role())
		return err
	}}
	output.Register(cmd)
	return cmd
}

// accessRights are objects of Kubernetes that give rights.
type accessRights struct {
	// YAML is a ClusterRole and a Role, as oc apply takes them.
	YAML string `json:"yaml"`
}

func newPlan(t *tool) *cobra.Command {
	var o skewOptions
	output := app.Output{Kinds: map[string]any{"UpdatePlan": skewreport.PlanJSON{}}, Formats: []string{"markdown", "html", "script", "json"}}
	cmd := &cobra.Command{
		Use:  "plan",
		Args: noPaths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output.String() == "script" {
				o.fromAnywhere()
			}
			r, err := t.answer(cmd, o)
			if err != nil {
				return err
			}
			switch output.String() {
			case "markdown":
				return skewreport.Plan(t.Stdout, r)
			case "html":
				return skewreport.PlanHTML(t.Stdout, r)
			case "script":
				return skewreport.Script(t.Stdout, r)
			}
			return output.JSON(t.Stdout, skewreport.PlanOf(r))
		},
	}
	o.register(cmd)
	output.Register(cmd)
	return cmd
}
