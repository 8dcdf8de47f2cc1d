package skew

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// readPayload writes the payload that --release takes.
func readPayload(text string) []action.Action {
	return []action.Action{action.ReadPayload{Text: text}}
}

// unusedPayloads tells of payloads that were given and answered nothing: who
// gives one believes that its commits decided, and not the catalog.
func (w *world) unusedPayloads(out *sink) {
	for i := range w.inv.Payloads {
		p := &w.inv.Payloads[i]
		why := w.unusedPayload(p)
		if why == "" {
			continue
		}
		out.add(draft{
			Severity: finding.Warn, Object: "release payload " + p.At.Where,
			Observed: why + ": it isn't used",
			Expected: "the payload of a release that the cluster runs or goes to",
			Why:      "the catalog answered in its place, with versions that the release may not have",
			Do:       readPayload("give the payload of the release itself, or name with --from or --to the one that it is of"),
			When:     before, Evidence: []inventory.Evidence{p.At}, NoStep: true,
		})
	}
}

// unusedPayload is why no stop of the way goes by a payload; "" where one does,
// or where the cluster's own images are in it.
func (w *world) unusedPayload(p *inventory.Payload) string {
	if slices.ContainsFunc(w.stops, func(stop version.OpenShift) bool { return w.payload(stop) == p }) || w.runs(p) {
		return ""
	}
	of, err := version.ParseOpenShift(p.Version)
	if err != nil {
		return "the payload doesn't say which release it is of"
	}
	for _, stop := range w.stops {
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
func (w *world) runs(p *inventory.Payload) bool {
	for i := range w.inv.Drivers {
		d := &w.inv.Drivers[i]
		if d.OS == "linux" && d.Image.Digest != "" && slices.ContainsFunc(p.Tags, func(t inventory.PayloadTag) bool { return t.Image.Digest == d.Image.Digest }) {
			return true
		}
	}
	return false
}
