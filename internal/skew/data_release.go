package skew

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// stale is when the catalog's age is worth a word: OpenShift has a new minor
// about every four months, and drivers are rebased with it.
const stale = 180 * 24 * time.Hour

// releaseData is DATA001 for the cluster: its releases and the catalog.
func releaseData(w *world, out *sink) {
	if w.Hop > 0 || w.Phase != Now {
		return
	}
	if w.problem != "" {
		out.add(draft{
			Severity: finding.Unknown, Object: "OpenShift " + cmp.Or(w.destination(), "release"),
			Observed: w.problem, Expected: "releases, and an update between them, that the catalog knows",
			Why:    "which drivers are on the way can't be told",
			Remedy: cmp.Or(w.fix, "name the release that the cluster runs: --from "+w.example()),
			When:   before, Evidence: w.catalogEvidence(), NoStep: true,
		})
	}
	w.contradicted(out)
	w.updating(out)
	w.arrived(out)
	w.unusedPayloads(out)
	w.age(out)
}

// example is a release that the cluster may run: one that is updated to the
// target.
func (w *world) example() string {
	for _, r := range w.cat.Releases {
		if !w.target.IsZero() && slices.Contains(r.Next, w.target.MinorString()) {
			return r.OpenShift
		}
	}
	return "4.20.3"
}

// contradicted tells of a --from that isn't what was read. It is asked for all
// the same: what was read may be of another day.
func (w *world) contradicted(out *sink) {
	if w.req.From == "" || w.From.IsZero() {
		return
	}
	read, observed, severity := w.inv.Cluster.OpenShift, "", finding.Warn
	if have, err := version.ParseOpenShift(read); err == nil {
		if have.CompareMinor(w.From) == 0 {
			return
		}
		observed = fmt.Sprintf("--from says %s, the ClusterVersion that was read is of %s", w.From, have)
	} else if known, server := w.cat.Release(w.From.MinorString()), w.inv.Cluster.Kubernetes; known != nil && server != "" {
		k, err := version.ParseKubernetes(server)
		if err != nil || k.MinorString() == known.Kubernetes || w.nextWith(known, k) != nil && w.inv.Cluster.Updating != "" {
			return
		}
		observed = fmt.Sprintf("--from says %s, which has Kubernetes %s; the API server that was read is %s", w.From, known.Kubernetes, server)
		if w.inv.Read[inventory.ClusterVersion].Complete {
			severity = finding.Info // it has no ClusterVersion: it's no OpenShift, and --from can't be its release
		}
	}
	if observed == "" {
		return
	}
	out.add(draft{
		Severity: severity, Object: "OpenShift " + w.From.String(), Same: "contradicted",
		Observed: observed, Expected: "the release that the cluster runs",
		Why:    "everything here is judged by the release that --from names",
		Remedy: "leave --from out, or name the release that the cluster runs",
		When:   before, Evidence: append(slices.Clone(w.inv.Cluster.Evidence), inventory.Evidence{Where: "--from", Text: w.req.From}), NoStep: true,
	})
}

// updating tells of an update that isn't complete.
func (w *world) updating(out *sink) {
	if w.inv.Cluster.Updating == "" || w.underway() {
		return // AFTER001 says so
	}
	out.add(draft{
		Severity: finding.Info, Object: "OpenShift " + w.inv.Cluster.Updating,
		Observed: fmt.Sprintf("the update from %s to %s isn't complete", cmp.Or(w.inv.Cluster.OpenShift, "an unknown release"), w.inv.Cluster.Updating),
		Expected: "a completed update",
		Why:      "Linux drivers of both releases may run at the same time; the former counts as the present state",
		Evidence: w.inv.Cluster.Evidence, NoStep: true,
	})
}

// arrived tells of a target that the cluster is at already.
func (w *world) arrived(out *sink) {
	if w.Hops != 1 || w.To.CompareMinor(w.From) != 0 {
		return
	}
	if w.To.Patch >= 0 && w.From.Patch >= 0 && w.To.Compare(w.From) != 0 {
		return
	}
	out.add(draft{
		Severity: finding.Info, Object: "OpenShift " + w.To.String(),
		Observed: fmt.Sprintf("the cluster runs %s, the target is %s", w.From, w.To),
		Expected: "a target that the cluster isn't at, to its patch",
		Why:      "nothing moves, or the patch that it moves to isn't named",
		Evidence: w.inv.Cluster.Evidence, NoStep: true,
	})
}

// age tells of an old catalog.
func (w *world) age(out *sink) {
	now, err := time.Parse(time.DateOnly, w.req.Now)
	if err != nil {
		return
	}
	asOf, err := time.Parse(time.DateOnly, w.cat.AsOf)
	if err != nil || now.Sub(asOf) <= stale {
		return
	}
	out.add(draft{
		Severity: finding.Info, Object: "catalog",
		Observed: fmt.Sprintf("the catalog is of %s, %d days old", w.cat.AsOf, int(now.Sub(asOf).Hours()/24)),
		Expected: "a catalog of the last 180 days",
		Why:      "releases, rebases and incompatibilities since then aren't in it",
		Remedy:   "use a newer build of verify, or give --catalog",
		When:     before, Evidence: w.catalogEvidence(), NoStep: true,
	})
}

func (x *index) catalogEvidence() []inventory.Evidence {
	return []inventory.Evidence{{Where: "catalog of " + x.cat.AsOf}}
}

// driverData is DATA001 for one driver: how well its Linux side is known.
func driverData(v *view, out *sink) {
	l := v.Linux()
	if v.Catalog == nil || v.Phase == Planned {
		return
	}
	if l.Fixed {
		return // SKEW005 says so
	}
	d := draft{
		Object:   v.Catalog.Title + " in OpenShift " + cmp.Or(v.Release().String(), "of an unknown release"),
		Expected: "one version, by source commit or tree",
		When:     before, Evidence: l.evidence(), NoStep: true,
		Do: readPayload("name the release to its patch, or give its payload with --release release.json"),
	}
	if v.Release().Patch >= 0 && !catalog.Dated(v.Release()) {
		d.Do = readPayload("give its payload with --release release.json, for its patch says nothing")
	}
	switch {
	case v.Release().IsZero():
		return // releaseData says so
	case !l.Known():
		d.Severity, d.Observed, d.Why = finding.Unknown, l.Reason, "there is nothing to compare the Windows driver with"
		d.Evidence = v.catalogEvidence()
	case l.Rival != nil && len(l.Candidates) > 1:
		d.Severity, d.Observed = v.ambiguity(l), fmt.Sprintf("Linux %s by %s, which no operator owns and no status shows to run; OpenShift brings %s itself", l.Candidates[0].Version, l.Rival.Object, v.D.Provisioner)
		d.Observed += ", " + (&linuxSide{Candidates: l.Candidates[1:]}).String()
		d.Expected, d.NoStep = "one Linux driver of a name", false
		d.Why = "which of the two the Windows driver must fit depends on which one runs; where both do, they fight for one name"
		d.Remedy = fmt.Sprintf("see whether OpenShift's operator manages the driver. Where it says Managed, take %s out of what is read, and of what is applied: OpenShift's own is there. Where it says Unmanaged or Removed, give daemonsets.yaml instead of the manifest, or let the cluster be read: then the DaemonSet that runs counts, and it stays as it is in the update", l.Rival.Object)
		d.Do = append([]action.Action{action.Gather{Text: "see whether OpenShift's operator manages the driver", Get: []string{"get", "clustercsidriver", v.D.Provisioner, "-o", "jsonpath={.spec.managementState}"}}}, gather("daemonsets", "daemonsets.yaml")...)
	case len(l.Candidates) > 1:
		d.Severity, d.Observed = v.ambiguity(l), "Linux "+l.String()
		d.Why = "the driver was rebased inside the minor, and which side of that the release is on isn't known"
	case v.strange(l) != "":
		d.Severity, d.Observed = finding.Warn, "Linux "+l.String()+" by the catalog; the payload names commit "+v.strange(l)
		d.Why = "the catalog doesn't know that commit: the driver may have been rebased since"
		d.Remedy = "tell the commit's upstream version with --catalog (commits), and update verify"
	case l.Candidates[0].Certainty == "default":
		d.Severity, d.Observed = finding.Info, "Linux "+l.String()+", the head of the release branch"
		d.Why = "it is what the branch had when the catalog was made, not what a payload is known to hold"
	default:
		return
	}
	out.add(d)
}

// ambiguity is how bad it is that several versions may hold.
func (v *view) ambiguity(l *linuxSide) finding.Severity {
	first := l.Candidates[0].Version
	differs := func(c version.Driver) bool {
		return !c.SameMinor(first) || v.Catalog.Line(c) != v.Catalog.Line(first)
	}
	if _, some := l.judge(differs); !some {
		return finding.Info
	}
	if windows, known := v.Windows(); known && l.Rival == nil && v.fallsBehind(windows) {
		return finding.Info // it fits now, and follows after the update whichever comes
	}
	return v.onTheWay(finding.Warn)
}

// onTheWay lowers what is said of releases between start and target: there the
// admin chooses the patch.
func (v *view) onTheWay(s finding.Severity) finding.Severity {
	if v.Phase != Now && v.Hop < v.Hops-1 {
		return finding.Info
	}
	return s
}

// strange is the commit that a payload names for the driver, where the catalog
// doesn't know it; "" otherwise.
func (v *view) strange(l *linuxSide) string {
	if by := l.Candidates[0].By; by != "range" && by != "default" {
		return ""
	}
	p := v.payload(v.Release())
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
