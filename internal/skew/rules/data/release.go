// Package data holds the rules on what the other rules had to go by (DATA).
package data

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/versions"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "DATA001", Driver: driverData, Cluster: releaseData, At: rules.ExceptPlan},
	{ID: "DATA002", Cluster: notRead, At: rules.AtNow},
}

// stale is when the catalog's age is worth a word: OpenShift has a new minor
// about every four months, and drivers are rebased with it.
const stale = 180 * 24 * time.Hour

// releaseData is DATA001 for the cluster: its releases and the catalog.
func releaseData(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase != snapshot.Now {
		return
	}
	if snap.Route.Problem != "" {
		report(rules.Finding{
			Severity: finding.Unknown, Object: rules.ReleaseText(snap.Target, "OpenShift release"),
			Observed: snap.Route.Problem, Expected: "releases, and an update between them, that the catalog knows",
			Why:    "which drivers are on the way can't be told",
			Remedy: cmp.Or(snap.Route.Fix, "name the release that the cluster runs: --from "+example(snap)),
			When:   rules.Before, Evidence: snap.CatalogEvidence(), NoStep: true,
		})
	}
	contradicted(snap, report)
	updating(snap, report)
	alreadyThere(snap, report)
	unusedPayloads(snap, report)
	age(snap, report)
}

// example is a release that the cluster may run: one that is updated to the
// target.
func example(snap *snapshot.Snapshot) string {
	for _, r := range snap.Catalog.Releases {
		if !snap.Target.IsZero() && slices.Contains(r.Next, snap.Target.MinorString()) {
			return r.OpenShift
		}
	}
	return "4.20.3"
}

// contradicted tells of a --from that isn't what was read. It is asked for all
// the same: what was read may be of another day.
func contradicted(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Request.From == "" || snap.From.IsZero() {
		return
	}
	read, observed, severity := snap.Inventory.Cluster.OpenShift, "", finding.Warn
	if have, err := version.ParseOpenShift(read); err == nil {
		if have.CompareMinor(snap.From) == 0 {
			return
		}
		observed = fmt.Sprintf("--from says %s, the ClusterVersion that was read is of %s", snap.From, have)
	} else if known, server := snap.Catalog.Release(snap.From.MinorString()), snap.Inventory.Cluster.Kubernetes; known != nil && server != "" {
		k, err := version.ParseKubernetes(server)
		if err != nil || k.MinorString() == known.Kubernetes || snap.NextWith(known, k) != nil && snap.Inventory.Cluster.Updating != "" {
			return
		}
		observed = fmt.Sprintf("--from says %s, which has Kubernetes %s; the API server that was read is %s", snap.From, known.Kubernetes, server)
		if snap.Inventory.Read[inventory.ClusterVersion].Complete {
			severity = finding.Info // it has no ClusterVersion: it's no OpenShift, and --from can't be its release
		}
	}
	if observed == "" {
		return
	}
	report(rules.Finding{
		Severity: severity, Object: "OpenShift " + snap.From.String(), Same: "contradicted",
		Observed: observed, Expected: "the release that the cluster runs",
		Why:    "everything here is judged by the release that --from names",
		Remedy: "leave --from out, or name the release that the cluster runs",
		When:   rules.Before, Evidence: append(slices.Clone(snap.Inventory.Cluster.Evidence), inventory.Evidence{Where: "--from", Text: snap.Request.From}), NoStep: true,
	})
}

// updating tells of an update that isn't complete.
func updating(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Inventory.Cluster.Updating == "" || snap.Underway() {
		return // AFTER001 says so
	}
	report(rules.Finding{
		Severity: finding.Info, Object: "OpenShift " + snap.Inventory.Cluster.Updating,
		Observed: fmt.Sprintf("the update from %s to %s isn't complete", cmp.Or(snap.Inventory.Cluster.OpenShift, "an unknown release"), snap.Inventory.Cluster.Updating),
		Expected: "a completed update",
		Why:      "Linux drivers of both releases may run at the same time; the former counts as the present state",
		Evidence: snap.Inventory.Cluster.Evidence, NoStep: true,
	})
}

// alreadyThere tells of a target that the cluster is at already.
func alreadyThere(snap *snapshot.Snapshot, report rules.Report) {
	patches := snap.To.Patch >= 0 && snap.From.Patch >= 0
	if snap.Hops != 1 || snap.To.CompareMinor(snap.From) != 0 || patches && snap.To.Compare(snap.From) != 0 {
		return
	}
	report(rules.Finding{
		Severity: finding.Info, Object: "OpenShift " + snap.To.String(),
		Observed: fmt.Sprintf("the cluster runs %s, the target is %s", snap.From, snap.To),
		Expected: "a target that the cluster isn't at, to its patch",
		Why:      "nothing moves, or the patch that it moves to isn't named",
		Evidence: snap.Inventory.Cluster.Evidence, NoStep: true,
	})
}

// age tells of an old catalog.
func age(snap *snapshot.Snapshot, report rules.Report) {
	now, err := time.Parse(time.DateOnly, snap.Request.Now)
	if err != nil {
		return
	}
	asOf, err := time.Parse(time.DateOnly, snap.Catalog.AsOf)
	if err != nil || now.Sub(asOf) <= stale {
		return
	}
	report(rules.Finding{
		Severity: finding.Info, Object: "catalog",
		Observed: fmt.Sprintf("the catalog is of %s, %d days old", snap.Catalog.AsOf, int(now.Sub(asOf).Hours()/24)),
		Expected: "a catalog of the last 180 days",
		Why:      "releases, rebases and incompatibilities since then aren't in it",
		Do:       []action.Action{action.ByHand{Text: "read newer facts, or use a newer build of verify", Look: [][]string{{"verify", "catalog", "update"}}}},
		When:     rules.Before, Evidence: snap.CatalogEvidence(), NoStep: true,
	})
}

// driverData is DATA001 for one driver: how well its Linux side is known.
func driverData(v *snapshot.View, report rules.Report) {
	l := v.Linux()
	if v.Catalog == nil || l.Fixed {
		return // SKEW005 says so
	}
	d := rules.Finding{
		Object:   v.Catalog.Title + " in OpenShift " + cmp.Or(v.At.Release().String(), "of an unknown release"),
		Expected: "one version, by source commit or tree",
		When:     rules.Before, Evidence: l.Evidence(), NoStep: true,
		Do: []action.Action{action.ReadPayload{Text: "name the release to its patch, or give its payload with --release-image release.json"}},
	}
	if v.At.Release().Patch >= 0 && !catalog.Dated(v.At.Release()) {
		d.Do = []action.Action{action.ReadPayload{Text: "give its payload with --release-image release.json, for its patch says nothing"}}
	}
	switch {
	case v.At.Release().IsZero():
		return // releaseData says so
	case !l.Known():
		d.Severity, d.Observed, d.Why = finding.Unknown, l.Reason, "there is nothing to compare the Windows driver with"
		d.Evidence = v.At.CatalogEvidence()
	case l.Rival != nil && len(l.Candidates) > 1:
		d.Severity, d.Observed = ambiguity(v, l), fmt.Sprintf("Linux %s by %s, which no operator owns%s; OpenShift brings %s itself", l.Candidates[0].Version, l.Rival.Object, map[bool]string{true: " and no status shows to run"}[l.Rival.Rollout == nil], v.DaemonSet.Provisioner)
		d.Observed += ", " + (&snapshot.Linux{Candidates: l.Candidates[1:]}).String()
		d.Expected, d.NoStep = "one Linux driver of a name", false
		d.Why = "which of the two the Windows driver must fit depends on which one runs; where both do, they fight for one name"
		d.Remedy = fmt.Sprintf("see whether OpenShift's operator manages the driver. Where it says Managed, take %s out of what is read, and of what is applied: OpenShift's own is there. Where it says Unmanaged or Removed, give daemonsets.yaml instead of the manifest, or let the cluster be read: then the DaemonSet that runs counts, and it stays as it is in the update", l.Rival.Object)
		d.Do = append([]action.Action{action.Gather{Text: "see whether OpenShift's operator manages the driver", Get: []string{"get", "clustercsidriver", v.DaemonSet.Provisioner, "-o", "jsonpath={.spec.managementState}"}}}, remedy.Gather("daemonsets", "daemonsets.yaml")...)
		if l.Rival.Rollout != nil {
			text := fmt.Sprintf("keep one Linux driver of %s: take %s and its controller away, or have OpenShift's operator remove its own", v.DaemonSet.Provisioner, l.Rival.Object)
			d.Remedy, d.Do = "", []action.Action{action.ByHand{Text: text, Look: [][]string{{"oc", "get", "clustercsidriver", v.DaemonSet.Provisioner, "-o", "yaml"}}}}
		}
	case len(l.Candidates) > 1:
		d.Severity, d.Observed = ambiguity(v, l), "Linux "+l.String()
		d.Why = "the driver was rebased inside the minor, and which side of that the release is on isn't known"
	case unknownCommit(v, l) != "":
		d.Severity, d.Observed = finding.Warn, "Linux "+l.String()+" by the catalog; the payload names commit "+unknownCommit(v, l)
		d.Why = "the catalog doesn't know that commit: the driver may have been rebased since"
		d.Remedy = "tell the commit's upstream version with --catalog (commits), and update verify"
	case l.Candidates[0].Certainty == "default":
		d.Severity, d.Observed = finding.Info, "Linux "+l.String()+", the head of the release branch"
		d.Why = "it is what the branch had" + versions.On(l) + ", its last commit when the catalog was made, not what a payload is known to hold"
	default:
		return
	}
	report(d)
}

// ambiguity is how bad it is that several versions may hold.
func ambiguity(v *snapshot.View, l *snapshot.Linux) finding.Severity {
	first := l.Candidates[0].Version
	differs := func(c version.Driver) bool {
		return !c.SameMinor(first) || v.Catalog.Line(c) != v.Catalog.Line(first)
	}
	if _, some := l.Holds(differs); !some {
		return finding.Info
	}
	if windows, known := v.Windows(); known && l.Rival == nil && versions.FallsBehind(v, windows) {
		return finding.Info // it fits now, and follows after the update whichever comes
	}
	return onTheWay(v, finding.Warn)
}

// onTheWay lowers what is said of releases between start and target: there the
// admin chooses the patch.
func onTheWay(v *snapshot.View, s finding.Severity) finding.Severity {
	if v.At.Phase != snapshot.Now && v.At.Hop < v.At.Hops-1 {
		return finding.Info
	}
	return s
}

// unknownCommit is the commit that a payload names for the driver, where the catalog
// doesn't know it; "" otherwise.
func unknownCommit(v *snapshot.View, l *snapshot.Linux) string {
	if by := l.Candidates[0].By; by != "range" && by != "default" {
		return ""
	}
	p := v.At.Payload(v.At.Release())
	if p == nil {
		return ""
	}
	for _, tag := range p.Tags {
		if tag.Name == v.Catalog.Payload {
			return tag.Commit
		}
	}
	return ""
}
