package catalog

import (
	"fmt"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

var migrationStates = []MigrationState{MigrationOff, MigrationOptIn, MigrationOn, MigrationRemoved}

func (k *checker) checkPairs() {
	for _, p := range k.into.Incompatible {
		r := k.row(sectionIncompatible, p.ID)
		r.wanted(p.ID, "id")
		r.driver(p.Driver, "driver")
		r.versions(p.Linux, "linux")
		r.versions(p.Windows, "windows")
		oneOf(r, p.Severity, severities, "severity")
		oneOf(r, p.When, moments, "when")
		r.wanted(p.Why, "why")
		r.wanted(p.Remedy, "remedy")
		r.evidence(p.Evidence)
	}
}

func (r rowCheck) versions(s string, path ...any) {
	if _, err := version.ParseRange(s); err != nil {
		r.badAt(path, fmt.Sprintf("%s is no range of versions", printable.Quote(s)), `write ">=1.28.0 <1.33.0"`)
	}
}

func (k *checker) checkMigration() {
	inTree := map[string]bool{}
	for _, d := range k.into.Drivers {
		inTree[d.InTree] = true
	}
	for _, m := range k.into.Migration {
		r := k.row(sectionMigration, migrationKey(m))
		if m.InTree == "" || !inTree[m.InTree] {
			r.badAt([]any{"inTree"}, fmt.Sprintf("no driver has the in-tree name %s", printable.Quote(m.InTree)), "write kubernetes.io/azure-disk, or add the driver")
		}
		r.release(m.OpenShift, "openshift")
		oneOf(r, m.Linux, migrationStates, "linux")
		oneOf(r, m.Windows, migrationStates, "windows")
		r.evidence(m.Evidence)
	}
	for _, g := range k.into.Gates {
		r := k.row(sectionGates, g.Key)
		if !ackKey.MatchString(g.Key) {
			r.badAt([]any{"key"}, fmt.Sprintf("%s is no key of an acknowledgement", printable.Quote(g.Key)), "write it as in the ConfigMap admin-gates: ack-4.12-...")
		}
		r.release(g.From, "from")
		r.release(g.To, "to")
		if g.Driver != "" {
			r.driver(g.Driver, "driver")
		}
		r.wanted(g.Applies, "applies")
		r.evidence(g.Evidence)
	}
}
