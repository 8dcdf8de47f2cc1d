package precheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
	"github.com/winbake/winbake/internal/skew"
)

// Judge reads a cluster and judges it against each update that it's offered.
type Judge struct {
	Config *rest.Config
	// Context is the kubeconfig's, for people; it may be empty.
	Context string
	Catalog *catalog.Catalog
	// Images are versions of images that don't say, as kube.Options has them.
	Images map[string]string
	// From is the release that the cluster runs; "": as its ClusterVersion says.
	From string
	// To are the releases to judge; none: those that the cluster is offered.
	To []string
	// Accept are rules, or ID=object, that count no more.
	Accept []string
	// Today returns the day, 2026-11-21.
	Today func() (string, error)
}

// Evaluate reads the cluster once and judges every target. Its errors are the
// reader's: what can't be told of a cluster that can be read is UNKNOWN.
func (j *Judge) Evaluate(ctx context.Context) (*Answer, error) {
	today, err := j.Today()
	if err != nil {
		return nil, err
	}
	c := kube.NewCollector(kube.Options{Catalog: j.Catalog, ImageVersions: j.Images})
	source, err := cluster.Read(ctx, c, cluster.Options{Config: j.Config, Context: j.Context})
	if err != nil {
		return nil, err
	}
	inv := c.Inventory()
	inv.Sources = []inventory.Source{source}
	a := &Answer{From: cmp.Or(j.From, inv.Cluster.OpenShift), CatalogAsOf: j.Catalog.AsOf}
	targets, known := j.targets(inv)
	if !known {
		a.Targets = []Target{unknownTarget("")}
		return a, nil
	}
	for _, to := range targets {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("judge the update to %s: %w", to, err)
		}
		a.Targets = append(a.Targets, j.target(inv, to, today))
	}
	return a, nil
}

// targets are the releases to judge. known is false where it couldn't be read
// which are offered, or there is nothing that offers any.
func (j *Judge) targets(inv *inventory.Inventory) (targets []string, known bool) {
	if len(j.To) > 0 {
		// Two series of one name would spoil the whole of /metrics.
		for _, to := range j.To {
			if !slices.Contains(targets, to) {
				targets = append(targets, to)
			}
		}
		return targets, true
	}
	read := inv.Read[inventory.ClusterVersion]
	return inv.Cluster.Available, read.Complete && read.Count > 0
}

// target judges one update. A release that can't be one of this cluster's is
// UNKNOWN: nothing was compared.
func (j *Judge) target(inv *inventory.Inventory, to, today string) Target {
	v, err := version.ParseOpenShift(to)
	if err != nil {
		return unknownTarget(to)
	}
	result, err := skew.Evaluate(j.Catalog, inv, skew.Request{From: j.From, To: to, Now: today, NoPlan: true})
	if err != nil {
		t := unknownTarget(to)
		t.Minor = v.MinorString()
		return t
	}
	result.Accept(j.Accept)
	t := Target{To: to, Minor: v.MinorString(), Verdict: result.Verdict, Concern: ConcernOf(result), Findings: map[Finding]int{}}
	for _, f := range result.Findings {
		if f.Severity > finding.Pass {
			t.Findings[Finding{f.ID, f.Severity}]++
		}
	}
	return t
}

// unknownTarget is an update that nothing can be said of.
func unknownTarget(to string) Target {
	return Target{To: to, Verdict: finding.Unknown, Concern: NotKnown}
}

// ConcernOf is what the answer about an update tells an admin to know before it.
func ConcernOf(r *skew.Result) Concern {
	switch r.Verdict {
	case finding.Unknown:
		return NotKnown
	case finding.Block:
		if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Severity == finding.Block && !r.Present(f) }) {
			return BreaksThen
		}
		return BrokenNow
	case finding.Warn:
		if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Severity == finding.Warn && f.When == "before" }) {
			return ActFirst
		}
	case finding.Pass, finding.Info:
	}
	return NoConcern
}
