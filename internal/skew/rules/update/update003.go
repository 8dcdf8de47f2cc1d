package update

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var update003 = rules.Rule{ID: "UPDATE003", Cluster: knownRisks, Asks: rules.OfHops, At: rules.AtTarget}

// knownRisks is UPDATE003: the release that is asked for is offered with known risks.
func knownRisks(snap *snapshot.Snapshot, report rules.Report) {
	c := &snap.Inventory.Cluster
	if snap.Hop > 0 || snap.Underway() {
		return
	}
	safe, risky := snapshot.Offered(c, snap.To)
	asked := snap.To
	if asked.Patch < 0 && safe.IsZero() {
		asked = risky
	}
	risk := c.Risk(asked.String())
	if risk == nil {
		return
	}
	names := strings.Join(risk.Names, ", ")
	cure := fmt.Sprintf("take a release without it: --to %s", safe)
	if safe.IsZero() {
		cure = fmt.Sprintf("no release of %s is offered without a known risk%s: wait for one", asked.MinorString(), inChannel(c.Channel))
	}
	report(rules.Finding{
		Case: "risk", Facts: rules.Facts{"to": asked, "safe": safe, "risk": risk, "names": names, "message": printable.OneLine(risk.Message)},
		Evidence: []inventory.Evidence{risk.At}, Source: risk.URL,
		Do: []action.Action{action.ByHand{
			Object: "ClusterVersion version", First: true, Text: "read the risk " + names + " first; " + cure, Judge: "whether the risk concerns this cluster",
			Look: [][]string{{"oc", "adm", "upgrade", "--include-not-recommended"}},
		}},
	})
}

func inChannel(name string) string {
	if name == "" {
		return ""
	}
	return " in the channel " + name
}
