package verify

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/report/skewreport"
)

// clustersAtOnce is how many clusters are read at a time: each may have
// thousands of objects in memory.
const clustersAtOnce = 4

// skewOfContexts judges several clusters. One that can't be read doesn't keep
// the others from it: it is UNKNOWN.
func (t *tool) skewOfContexts(cmd *cobra.Command, o skewOptions) error {
	if err := t.checkContexts(cmd.Flags()); err != nil {
		return err
	}
	names := o.contexts
	if slices.Equal(names, []string{"all"}) {
		var err error
		if names, err = o.cluster.Contexts(); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return &fault.Error{What: "the kubeconfig has no context", Fix: "--kubeconfig FILE"}
	}
	all := make([]skewreport.Cluster, len(names))
	var group errgroup.Group
	group.SetLimit(clustersAtOnce)
	ctx := cmd.Context()
	for i, name := range names {
		group.Go(func() error {
			one := o
			one.cluster = o.cluster.For(name)
			r, err := await(ctx, func() (skewreport.Report, error) { return t.judge(ctx, cmd, one) })
			all[i] = skewreport.Cluster{Context: name, Report: r, Err: err}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := skewreport.WriteClusters(t.Stdout, t.format, all, skewreport.Options{Verbose: t.verbose}); err != nil {
		return err
	}
	found := []finding.Finding{}
	for _, c := range all {
		if c.Err != nil {
			found = append(found, finding.Finding{Severity: finding.Unknown})
			continue
		}
		found = append(found, c.Report.Result.Findings...)
	}
	return t.exit(found)
}

// checkContexts refuses what goes with one cluster alone, before any is read.
func (t *tool) checkContexts(f *pflag.FlagSet) error {
	for _, flag := range []string{"manifests", "must-gather", "context", "server"} {
		if f.Changed(flag) {
			return &fault.Error{What: "--contexts reads several clusters, and --" + flag + " is of one", Fix: "leave one of them out"}
		}
	}
	if !slices.Contains(skewreport.ClusterFormats, t.format) {
		return &fault.Error{What: "-o " + t.format + " is for one cluster", Fix: "-o " + strings.Join(skewreport.ClusterFormats, ", -o ")}
	}
	return nil
}
