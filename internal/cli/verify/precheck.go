package verify

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/accept"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/internal/precheck"
)

type precheckOptions struct {
	listen, from            string
	to, images              []string
	catalog                 catalogflag.Flag
	interval, settle, stale time.Duration
	cluster                 cluster.Flags
}

func newPrecheck(t *tool) *cobra.Command {
	var o precheckOptions
	cmd := &cobra.Command{
		Use: "precheck", SuggestFor: []string{"serve"},
		RunE: func(cmd *cobra.Command, _ []string) error { return t.precheck(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "address to serve on, HOST:PORT; :8080 is every address of the machine")
	f.StringArrayVar(&o.to, "to", nil, "OpenShift release to judge (default: all that the cluster is offered); may be repeated")
	f.StringVar(&o.from, "from", "", "OpenShift release that the cluster runs (default: as its ClusterVersion says)")
	f.DurationVar(&o.interval, "interval", precheck.DefaultInterval, "the longest time between two evaluations")
	f.DurationVar(&o.settle, "settle", precheck.DefaultSettle, "how long to wait after a change, for those that come with it")
	f.DurationVar(&o.stale, "stale-after", 0, fmt.Sprintf("the age from which a verdict is UNKNOWN (default %d times --interval)", precheck.StaleFactor))
	f.StringArrayVar(&o.images, "image-version", nil, "version of an image that doesn't say, DIGEST_OR_IMAGE=vX.Y.Z, or a file of such lines; may be repeated")
	o.catalog.Register(cmd)
	app.Complete(cmd, "from", o.catalog.Releases)
	app.Complete(cmd, "to", o.catalog.Releases)
	addCluster(cmd, &o.cluster)
	return cmd
}

func (o *precheckOptions) check() error {
	for _, r := range append([]string{o.from}, o.to...) {
		if _, err := version.ParseOpenShift(r); err != nil && r != "" {
			return &fault.Error{What: err.Error(), Fix: "4.20 or 4.20.3", Err: err}
		}
	}
	for name, d := range map[string]time.Duration{"interval": o.interval, "settle": o.settle} {
		if d <= 0 {
			return &fault.Error{What: fmt.Sprintf("--%s can't be %s", name, d), Fix: "a duration above 0: --" + name + "=10m"}
		}
	}
	if o.stale != 0 && o.stale < o.interval {
		return &fault.Error{
			What: fmt.Sprintf("--stale-after %s is shorter than --interval %s: verdicts would be UNKNOWN in between", o.stale, o.interval),
			Fix:  fmt.Sprintf("--stale-after=%s", precheck.StaleFactor*o.interval),
		}
	}
	return nil
}

// precheck is the pipeline: catalog, credentials, address, and then the loop.
func (t *tool) precheck(ctx context.Context, o precheckOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	rules, err := acceptedRules(t.accept, ruleIDs())
	if err != nil {
		return err
	}
	today, err := day()
	if err != nil {
		return err
	}
	images, err := imageVersions(o.images)
	if err != nil {
		return err
	}
	known, err := o.catalog.Load(t.App)
	if err != nil {
		return err
	}
	config, name, err := o.cluster.Config()
	if err != nil {
		return err
	}
	config.UserAgent = "winbake/" + app.Version() + " precheck"
	watch, err := precheck.Watch(config)
	if err != nil {
		return &fault.Error{What: "the credentials or the address of the API server can't be used: " + err.Error(), Where: config.Host, Err: err, Fix: "kubectl config view --minify"}
	}
	judge := precheck.Judge{Config: config, Context: name, Catalog: known, Images: images, From: o.from, To: o.to, Accept: append(accept.Rules(t.accepted, today), rules...), Today: day}
	l, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	t.Console.Log().Infof("serving on %s: /metrics, /healthz, /readyz", l.Addr())
	return precheck.Serve(ctx, l, precheck.Options{
		Evaluate: judge.Evaluate, Watch: watch, Interval: o.interval, Settle: o.settle, Stale: o.stale,
		Version: app.Version(), Events: t.Console,
	})
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		fix := "--listen :8081, say"
		if !strings.Contains(address, ":") {
			fix = "--listen :" + address
		}
		return nil, &fault.Error{What: "can't listen: " + err.Error(), Where: address, Fix: fix, Err: err}
	}
	return l, nil
}
