package update

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var update003 = rules.Rule{ID: "UPDATE003", Cluster: knownRisks, Asks: rules.OfHops, At: rules.AtTarget}

// knownRisks is UPDATE003: the release that is asked for is offered with known risks, or
// isn't offered where the cluster's channel has it.
func knownRisks(snap *snapshot.Snapshot, report rules.Report) {
	c := &snap.Inventory.Cluster
	if snap.Hop > 0 || snap.Underway() {
		return
	}
	var safe, risky version.OpenShift // the newest of its minor
	for _, text := range c.Available {
		v, err := version.ParseOpenShift(text)
		switch {
		case err != nil || v.CompareMinor(snap.To) != 0 || v.Pre != snap.To.Pre:
		case c.Risk(text) == nil:
			safe = newer(safe, v)
		default:
			risky = newer(risky, v)
		}
	}
	asked := snap.To
	if asked.Patch < 0 && safe.IsZero() {
		asked = risky
	}
	f := rules.Finding{Case: "risk", Facts: rules.Facts{"to": asked, "safe": safe}}
	by := action.ByHand{Object: "ClusterVersion version", First: true, Look: [][]string{{"oc", "adm", "upgrade", "--include-not-recommended"}}}
	switch risk := c.Risk(asked.String()); {
	case risk != nil:
		f.Facts["risk"], f.Facts["names"], f.Facts["message"] = risk, strings.Join(risk.Names, ", "), printable.OneLine(risk.Message)
		f.Evidence, f.Source = []inventory.Evidence{risk.At}, risk.URL
		by.Text = "read the risk " + strings.Join(risk.Names, ", ") + " first; "
		if safe.IsZero() {
			by.Text += fmt.Sprintf("no release of %s is offered without a known risk%s: wait for one", asked.MinorString(), inChannel(c.Channel))
		} else {
			by.Text += fmt.Sprintf("take a release without it: --to %s", safe)
		}
		by.Judge = "whether the risk concerns this cluster"
	default:
		return
	}
	f.Do = []action.Action{by}
	report(f)
}

func inChannel(name string) string {
	if name == "" {
		return ""
	}
	return " in the channel " + name
}

func newer(a, b version.OpenShift) version.OpenShift {
	if a.IsZero() || b.Compare(a) > 0 {
		return b
	}
	return a
}
