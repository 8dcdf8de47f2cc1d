package data

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

// unusedPayloads tells of payloads that were given and answered nothing: who
// gives one believes that its commits decided, and not the catalog.
func unusedPayloads(snap *snapshot.Snapshot, report rules.Report) {
	for _, p := range snapshot.Pointers(snap.Inventory.Payloads) {
		why := unusedPayload(snap, p)
		if why == "" {
			continue
		}
		report(rules.Finding{
			Severity: finding.Warn, Object: "release payload " + p.At.Where,
			Observed: why + ": it isn't used",
			Expected: "the payload of a release that the cluster runs or goes to",
			Why:      "the catalog answered instead, with versions that the release may not have",
			Do:       []action.Action{action.ReadPayload{Text: "give the payload of the release itself, or name with --from or --to the one that it is of"}},
			When:     rules.Before, Evidence: []inventory.Evidence{p.At}, NoStep: true,
		})
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

// runs tells whether a Linux driver of the cluster runs an image of a payload.
func runs(snap *snapshot.Snapshot, p *inventory.Payload) bool {
	return slices.ContainsFunc(snap.Drivers, func(d *inventory.Driver) bool {
		return d.OS == "linux" && d.Image.Digest != "" && slices.ContainsFunc(p.Tags, func(t inventory.PayloadTag) bool { return t.Image.Digest == d.Image.Digest })
	})
}
