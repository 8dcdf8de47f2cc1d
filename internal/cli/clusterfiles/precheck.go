package clusterfiles

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/manifests/precheck"
)

// NewPrecheck returns the command `bake manifests precheck`.
func NewPrecheck(a *app.App) *cobra.Command {
	var o precheck.Options
	var out string
	cmd := &cobra.Command{
		Use:   "precheck",
		Short: "Write what judges updates inside the cluster, and alerts of it",
		Long: `precheck writes a folder for oc apply: a Deployment that runs verify skew precheck
with exactly the rights that it uses, a Service and a ServiceMonitor for its
metrics, and rules whose alerts oc adm upgrade recommend shows before an update
(from OpenShift 4.22 on). Each file begins with what it is for.

Prometheus reads none of it until monitoring of user workloads is switched on,
which it isn't by default: one of the commands that are printed makes the switch
where there's none yet.

--image is required: an image of yours with verify as its entry point, which
docs/precheck.md says how to make. Name it by its digest.

It judges the updates that the cluster is offered. A cluster that asks no update
service is offered none: name releases with --to. --accept and --image-version
are verify skew's.

Nothing is written over: the folder must be new or empty, or be what would be
written.`,
		Example: `  bake manifests precheck --image quay.io/me/winbake-verify@sha256:... --out precheck
  bake manifests precheck --image mirror.example.com/winbake-verify@sha256:... --to 4.20 --interval 1h --out precheck
  bake manifests precheck --image quay.io/me/winbake-verify@sha256:... --accept SKEW001 --out precheck`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Image, "image", "", "image with verify as its entry point, by digest")
	f.StringVar(&out, "out", "", "the folder to write")
	f.StringVar(&o.Namespace, "namespace", precheck.DefaultNamespace, "the namespace that it runs in")
	f.DurationVar(&o.Interval, "interval", 10*time.Minute, "the longest time between two evaluations")
	f.StringArrayVar(&o.To, "to", nil, "OpenShift release to judge (default: all that the cluster is offered); may be repeated")
	f.StringArrayVar(&o.Accept, "accept", nil, "finding to accept, ID or ID=object; may be repeated")
	f.StringArrayVar(&o.Images, "image-version", nil, "version of an image that doesn't say, DIGEST_OR_IMAGE=vX.Y.Z; may be repeated")
	app.Complete(cmd, "to", (&catalogflag.Flag{}).Releases)
	return app.Answer(a, "PrecheckManifests", cmd, func(ctx context.Context, _ []string) (written, error) {
		return writePrecheck(ctx, a, o, out)
	}, func(w written) [][]string {
		return app.Table("", w.Next, func(command string) []string { return []string{command} })
	})
}

// written is a folder, its files in their order, and the commands to run next.
type written struct {
	Folder string   `json:"folder"`
	Files  []string `json:"files"`
	Next   []string `json:"next"`
}

// writePrecheck is the pipeline: objects, folder, and what to run next.
func writePrecheck(ctx context.Context, a *app.App, o precheck.Options, out string) (w written, err error) {
	folder, err := precheck.Render(o)
	if err != nil {
		return w, err
	}
	if out == "" {
		return w, &fault.Error{What: "no folder to write", Fix: "--out precheck"}
	}
	if err := writeFolder(ctx, out, folder.Files); err != nil {
		return w, err
	}
	for _, note := range folder.Notes {
		a.Tell("precheck", event.Write, event.Warning, note)
	}
	a.Tell(out, event.Write, event.Done, fmt.Sprintf("%d files", len(folder.Files)))
	a.Tell("precheck", event.Write, event.Note, "no alert fires while monitoring of user workloads is off. Where its ConfigMap is there already, and config.yaml in it has no line "+monitoringOn+", add the line: oc -n openshift-monitoring edit configmap cluster-monitoring-config")
	w = written{Folder: out, Next: []string{"oc apply -f " + shell.Path(out), "oc -n " + folder.Namespace + " rollout status deployment/winbake-precheck", switchMonitoringOn, "oc adm upgrade recommend"}}
	for _, f := range folder.Files {
		w.Files = append(w.Files, f.Name)
	}
	return w, nil
}

// monitoringOn is the line that has OpenShift run a Prometheus for user workloads.
const monitoringOn = "enableUserWorkload: true"

// switchMonitoringOn makes the ConfigMap where there's none, as in a new cluster,
// and else shows it: create doesn't write over the settings of somebody else's.
const switchMonitoringOn = "oc -n openshift-monitoring get configmap cluster-monitoring-config -o yaml || oc -n openshift-monitoring create configmap cluster-monitoring-config --from-literal=config.yaml='" + monitoringOn + "'"
