package data

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/versions"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// unusedPayloads tells of payloads that were given and answered nothing: who
// gives one believes that its commits decided, and not the catalog.
func unusedPayloads(snap *snapshot.Snapshot, report rules.Report) {
	for _, p := range snapshot.Pointers(snap.Inventory.Payloads) {
		if why := unusedPayload(snap, p); why != "" {
			report(rules.Finding{
				Case: "unused payload", Facts: rules.Facts{"where": p.At.Where, "why": why}, Evidence: []inventory.Evidence{p.At},
				Do: []action.Action{action.ReadPayload{Text: "give the payload of the release itself, or name with --from or --to the one that it is of"}},
			})
		}
	}
}

// unusedPayload is why no release of the route goes by a payload; "" where one does,
// or where the cluster's own images are in it.
func unusedPayload(snap *snapshot.Snapshot, p *inventory.Payload) string {
	if slices.ContainsFunc(snap.Route.Stops, func(stop version.OpenShift) bool { return snap.Payload(stop) == p }) || runs(snap, p) {
		return ""
	}
	of, err := version.ParseOpenShift(p.Version)
	if err != nil {
		return "the payload doesn't say which release it is of"
	}
	for _, stop := range snap.Route.Stops {
		switch {
		case stop.IsZero() || stop.CompareMinor(of) != 0:
		case stop.Patch >= 0:
			return fmt.Sprintf("the payload is of %s, and the release on the way is %s", of, stop)
		default:
			return fmt.Sprintf("several payloads of %s were given, and its patch wasn't named", of.MinorString())
		}
	}
	return fmt.Sprintf("the payload is of %s, which isn't a release on the way", of)
}

func runs(snap *snapshot.Snapshot, p *inventory.Payload) bool {
	return slices.ContainsFunc(snap.Drivers, func(d *inventory.Driver) bool {
		return d.OS == "linux" && d.Image.Digest != "" && slices.ContainsFunc(p.Tags, func(t inventory.PayloadTag) bool { return t.Image.Digest == d.Image.Digest })
	})
}

var data001 = rules.Rule{ID: "DATA001", Driver: driverData, Cluster: releaseData}

// stale is when the catalog's age is worth a word: OpenShift has a new minor
// about every four months, and drivers are rebased with it.
const stale = 180 * 24 * time.Hour

func releaseData(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase != snapshot.Now {
		return
	}
	if snap.Route.Problem != "" {
		f := rules.Finding{
			Case: "unknown route", Object: rules.ReleaseText(snap.Target, "OpenShift release"), Evidence: snap.CatalogEvidence(),
			Remedy: cmp.Or(snap.Route.Fix, remedy.NameRelease(snap)),
		}
		if unknown := snap.Route.Unknown; !unknown.IsZero() {
			f.Remedy, f.Do = "", remedy.Payload(snap, unknown)
		}
		report(f)
	}
	contradicted(snap, report)
	updating(snap, report)
	if !snap.Route.There.IsZero() {
		report(rules.Finding{Case: "already there", Evidence: snap.Inventory.Cluster.Evidence})
	}
	unusedPayloads(snap, report)
	age(snap, report)
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
		Case: "contradicted", Severity: severity, Observed: observed, Do: []action.Action{action.ByHand{Text: "leave --from out, or name the release that the cluster runs", Look: [][]string{{"oc", "get", "clusterversion"}}}},
		Evidence: append(slices.Clone(snap.Inventory.Cluster.Evidence), inventory.Evidence{Where: "--from", Text: snap.Request.From}),
	})
}

func updating(snap *snapshot.Snapshot, report rules.Report) {
	c := &snap.Inventory.Cluster
	if c.Updating == "" || snap.Underway() { // of that one AFTER001 tells
		return
	}
	report(rules.Finding{
		Case: "updating", Facts: rules.Facts{"failing": c.Failing()}, Evidence: c.Evidence,
		Do: []action.Action{action.ByHand{
			Text: "wait until the update to " + c.Updating + " is complete, then run the check again", Object: "ClusterVersion version",
			Look: [][]string{{"oc", "adm", "upgrade"}, {"oc", "get", "clusteroperators"}},
		}},
	})
}

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
		Case: "old catalog", Facts: rules.Facts{"days": int(now.Sub(asOf).Hours() / 24)}, Evidence: snap.CatalogEvidence(),
		Do: []action.Action{action.ByHand{Text: "read newer facts, or use a newer build of verify", Look: [][]string{{"verify", "catalog", "update"}}}},
	})
}

// driverData is DATA001 for one driver: how well its Linux side is known.
func driverData(v *snapshot.View, report rules.Report) {
	l := v.Linux()
	if v.Catalog == nil || l.Fixed {
		return // SKEW005 says so
	}
	d := rules.Finding{
		Facts: rules.Facts{"linux": l, "release": v.At.Release()}, Evidence: l.Evidence(),
		Do: remedy.Payload(v.At, v.At.Release()),
	}
	if v.At.Release().Patch >= 0 && !catalog.Dated(v.At.Release()) {
		d.Do = []action.Action{action.ReadPayload{Text: "give its payload with --release-image release.json, for its patch says nothing"}}
	}
	switch {
	case v.At.Release().IsZero():
		return // releaseData says so
	case !l.Known():
		d.Case, d.Evidence = "unknown", v.At.CatalogEvidence()
	case l.Rival != nil && len(l.Candidates) > 1:
		d.Case, d.Severity = "two drivers", ambiguity(v, l)
		d.Facts["first"], d.Facts["others"] = l.Candidates[0].Version, (&snapshot.Linux{Candidates: l.Candidates[1:]}).String()
		look := []string{"get", "clustercsidriver/" + v.DaemonSet.Provisioner, "-o"}
		d.Do = append([]action.Action{action.Gather{Text: "see whether OpenShift's operator manages the driver", Get: append(look, "jsonpath={.spec.managementState}")}}, remedy.Gather("daemonsets", "daemonsets.yaml")...)
		if l.Rival.Rollout != nil {
			d.Case = "two drivers run"
			text := fmt.Sprintf("keep one Linux driver of %s: take %s and its controller away, or have OpenShift's operator remove its own", v.DaemonSet.Provisioner, l.Rival.Object)
			d.Do = []action.Action{action.ByHand{Text: text, Look: [][]string{slices.Concat([]string{"oc"}, look, []string{"yaml"})}}}
		}
	case len(l.Candidates) > 1:
		d.Case, d.Severity = "several", ambiguity(v, l)
	case unknownCommit(v, l) != "":
		d.Case, d.Facts["commit"] = "unknown commit", unknownCommit(v, l)
	case l.Candidates[0].Certainty == "default":
		d.Case, d.Facts["on"] = "head of the branch", versions.On(l)
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
	if windows, known := v.Windows(); known && l.Rival == nil {
		if low, _, same := l.Distance(windows); same && low >= 0 || versions.FallsBehind(v, windows) {
			return finding.Info // it is left as it is, or fits now and follows, whichever comes
		}
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
