package clusterfiles

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/object"
	"github.com/winbake/winbake/internal/cluster/manifests/precheck"
)

// NewPrecheck returns the command `bake manifests precheck`.
func NewPrecheck(a *app.App) *cobra.Command {
	var o precheck.Options
	var out string
	cmd := &cobra.Command{
		Use:   "precheck",
		Short: "Write CronJobs and alerts that judge an update",
		Long: `precheck writes a folder for oc apply: three CronJobs that run verify skew each hour
with exactly the rights that it uses (one fails at BLOCK, one at UNKNOWN, one at
WARN), and rules whose alerts oc adm upgrade recommend shows before an update (from
OpenShift 4.22 on). The alerts go by kube-state-metrics, which OpenShift's own
Prometheus reads. Each file begins with what it is for.

--image is required: an image of yours with verify as its entry point, which
https://github.com/winbake/winbake/blob/main/docs/precheck.md says how to make. Name
it by its digest. So is --to, the release that the cluster may go to next: write the
folder again after the update. --accept and --image-version are verify skew's.

Nothing is written over: the folder must be new or empty, or be what would be
written.`,
		Example: `  bake manifests precheck --image quay.io/me/winbake-verify@sha256:... --to 4.20 --out precheck
  bake manifests precheck --image mirror.example.com/winbake-verify@sha256:... --to 4.20 --to 4.21 --out precheck
  bake manifests precheck --image quay.io/me/winbake-verify@sha256:... --to 4.20 --accept SKEW001 --out precheck`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Image, "image", "", "image with verify as its entry point, by digest")
	app.OutFolder(f, &out)
	f.StringVar(&o.Namespace, "namespace", precheck.DefaultNamespace, "the namespace that it runs in")
	f.StringArrayVar(&o.To, "to", nil, "OpenShift release to judge the update to; may be repeated")
	f.StringArrayVar(&o.Accept, "accept", nil, "finding to accept, ID or ID=object; may be repeated")
	f.StringArrayVar(&o.Images, "image-version", nil, "version of an image that doesn't say, DIGEST_OR_IMAGE=vX.Y.Z; may be repeated")
	app.Complete(cmd, "to", (&catalogflag.Flag{}).Releases)
	return app.Answer(a, "PrecheckManifests", cmd, func(ctx context.Context, _ []string) (written, error) {
		return writePrecheck(ctx, a, o, out)
	}, written.rows)
}

// written is a folder, its files in their order, and the commands to run next.
type written struct {
	Folder string   `json:"folder"`
	Files  []string `json:"files"`
	Next   []string `json:"next"`
}

func (w written) rows() [][]string {
	return app.Table("", w.Next, func(command string) []string { return []string{command} })
}

// write fills the folder, and tells of it and of what the admin should know.
func write(ctx context.Context, a *app.App, out string, files []object.File, notes []string, next ...string) (w written, err error) {
	if err := writeFolder(ctx, out, files); err != nil {
		return w, err
	}
	for _, note := range notes {
		a.Tell(out, event.Write, event.Warning, note)
	}
	a.Tell(out, event.Write, event.Done, inventory.Many(len(files), "file"))
	w = written{Folder: out, Next: next}
	for _, f := range files {
		w.Files = append(w.Files, f.Name)
	}
	return w, nil
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
	return write(ctx, a, out, folder.Files, folder.Notes,
		"oc apply -f "+shell.Path(out),
		"oc -n "+folder.Namespace+" create job first-check --from=cronjob/winbake-precheck-warn",
		"oc -n "+folder.Namespace+" get cronjobs,jobs",
		"oc adm upgrade recommend")
}
