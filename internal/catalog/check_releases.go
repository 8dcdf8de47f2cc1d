package catalog

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

var certainties = []Certainty{Exact, Range, Default}

func (k *checker) checkReleases() {
	for _, rel := range k.into.Releases {
		r := k.row(sectionReleases, rel.OpenShift)
		minor, err := version.ParseOpenShift(rel.OpenShift)
		if err != nil || minor.MinorString() != rel.OpenShift {
			r.badAt([]any{"openshift"}, fmt.Sprintf("%s is no minor of OpenShift", printable.Quote(rel.OpenShift)), `write "4.20"`)
		}
		r.wanted(rel.Kubernetes, "kubernetes")
		if kube, err := version.ParseKubernetes(rel.Kubernetes); rel.Kubernetes != "" && (err != nil || kube.MinorString() != rel.Kubernetes) {
			r.badAt([]any{"kubernetes"}, fmt.Sprintf("%s is no minor of Kubernetes", printable.Quote(rel.Kubernetes)), `write "1.33"`)
		}
		if rel.KubeletSkew < 1 || rel.KubeletSkew > 3 {
			r.badAt([]any{"kubeletSkew"}, fmt.Sprintf("a kubelet can't lag %d minors behind", rel.KubeletSkew), "write 1 or 2")
		}
		r.evidence(rel.Evidence)
		r.next(minor, rel.Next)
		for _, name := range slices.Sorted(maps.Keys(rel.Drivers)) {
			r.driver(name, "drivers", name)
			r.shipped(name, rel.Drivers[name])
		}
		for i, name := range rel.WindowsManaged {
			r.driver(name, "windowsManaged", i)
		}
		if p := rel.WindowsProposed; p != nil {
			r.wanted(p.Source, "windowsProposed", "source")
			for i, name := range p.Drivers {
				r.driver(name, "windowsProposed", "drivers", i)
			}
		}
	}
}

func (r rowCheck) next(minor version.OpenShift, next []string) {
	for i, to := range next {
		r.release(to, "next", i)
		if parseMinor(to).CompareMinor(minor) <= 0 {
			r.badAt([]any{"next", i}, fmt.Sprintf("%s isn't newer than %s", printable.Clip(to), minor.MinorString()), "write minors that an update can go to")
		}
	}
}

// shipped judges the rows of one driver: each begins at the patch after the
// last one of the row before it.
func (r rowCheck) shipped(driver string, rows []Shipped) {
	if len(rows) == 0 {
		r.badAt([]any{"drivers", driver}, "there is no version", "write one, or leave the driver out: it isn't shipped")
	}
	for i, row := range rows {
		at := []any{"drivers", driver, i}
		switch {
		case row.Version != "":
			r.version(row.Version, append(at, "version")...)
		case row.Note == "":
			r.badAt(at, "the version isn't known, and no note says why", "write note: ...")
		}
		oneOf(r, row.Certainty, certainties, append(at, "certainty")...)
		if row.Head != "" && !day.MatchString(row.Head) {
			r.badAt(append(at, "head"), fmt.Sprintf("head %s is no day", printable.Quote(row.Head)), `write it as "2026-08-31"`)
		}
		r.evidence(row.Evidence, at...)
		r.patches(at, row)
		if i > 0 {
			r.follows(at, rows[i-1], row)
		}
	}
}

func (r rowCheck) patches(at []any, row Shipped) {
	switch {
	case row.FuzzyZ < 0, row.FromZ != nil && *row.FromZ < 0, row.UntilZ != nil && *row.UntilZ < 0:
		r.badAt(at, "a patch can't be below 0", "correct fromZ, untilZ or fuzzyZ")
	case row.FromZ != nil && row.UntilZ != nil && *row.FromZ > *row.UntilZ:
		r.badAt(at, fmt.Sprintf("the last patch, %d, is before the first, %d", *row.UntilZ, *row.FromZ), "correct fromZ or untilZ; both are in the range")
	}
}

func (r rowCheck) follows(at []any, before, row Shipped) {
	switch {
	case before.UntilZ == nil || row.FromZ == nil:
		r.badAt(at, "two rows hold for the same patches", "write untilZ in all rows but the last, and fromZ in all but the first")
	case *row.FromZ != *before.UntilZ+1:
		r.badAt(at, fmt.Sprintf("the row before ends at patch %d and this one begins at %d", *before.UntilZ, *row.FromZ), "begin each row at the patch after the one before it")
	}
}

func (k *checker) checkIdentities() {
	for _, c := range k.into.Commits {
		r := k.row(sectionCommits, commitKey(c))
		r.driver(c.Driver, "driver")
		r.matches(commitHex, c.Commit, "commit", "write 12 to 40 digits of 0-9a-f", "commit")
		r.version(c.Version, "version")
		if c.OpenShift != "" {
			r.release(c.OpenShift, "openshift")
		}
	}
	for _, d := range k.into.Digests {
		r := k.row(sectionDigests, d.Digest)
		r.driver(d.Driver, "driver")
		r.matches(digestHex, d.Digest, "digest", "write sha256: and 64 digits of 0-9a-f", "digest")
		r.version(d.Version, "version")
	}
}

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
		r.matches(ackKey, g.Key, "key of an acknowledgement", "write it as in the ConfigMap admin-gates: ack-4.12-...", "key")
		r.release(g.From, "from")
		r.release(g.To, "to")
		if g.Driver != "" {
			r.driver(g.Driver, "driver")
		}
		r.wanted(g.Applies, "applies")
		r.evidence(g.Evidence)
	}
}

// sourceLines are repository@ref:path with the lines.
var sourceLines = regexp.MustCompile(`^[\w.-]+/[\w.-]+@[\w./-]+:[\w./-]+#L[0-9]+(-L[0-9]+)?$`)

// platforms are the types of Infrastructure's platform on which Windows nodes
// run.
var platforms = []string{"AWS", "Azure", "BareMetal", "External", "GCP", "None", "Nutanix", "VSphere"}

func (k *checker) checkOperators() {
	for _, o := range k.into.Operators {
		r := k.row(sectionOperators, o.OpenShift)
		r.release(o.OpenShift, "openshift")
		r.listed(o.Start, "start")
		r.listed(o.Configure, "configure")
	}
}

func (r rowCheck) listed(source string, path ...any) {
	if source == "" {
		r.wanted(source, path...)
	} else if !sourceLines.MatchString(source) {
		r.badAt(path, fmt.Sprintf("%s names no lines of a file", printable.Quote(source)), "write repository@commit:path#L1-L9")
	}
}

func (k *checker) checkPayload() {
	for i, f := range k.into.Payload {
		r := k.row(sectionPayload, payloadKey(f))
		if !fs.ValidPath(f.Path) || f.Path == "." || strings.HasSuffix(f.Path, ".tar.gz") {
			r.badAt([]any{"path"}, fmt.Sprintf("%s is no file of a payload", printable.Quote(f.Path)), "write its path below /payload, without .tar.gz: csi-proxy/csi-proxy.exe")
		}
		oneOf(r, f.When, []When{Start, Configure}, "when")
		r.platforms(f.Platforms, "platforms")
		r.platforms(f.Nodes, "nodes")
		r.evidence(f.Evidence)
		r.minors(f.From, f.Until)
		for _, before := range k.into.Payload[:i] {
			if before.Path == f.Path && (before.Until == "" || compareMinor(before.Until, f.From) > 0) {
				r.badAt([]any{"from"}, fmt.Sprintf("the row from %s holds this release already", printable.Clip(before.From)), "write until in that row, or another from")
			}
		}
	}
}

func (r rowCheck) minors(from, until string) {
	r.release(from, "from")
	if until == "" {
		return
	}
	r.release(until, "until")
	if compareMinor(until, from) <= 0 {
		r.badAt([]any{"until"}, fmt.Sprintf("the range ends at %s, before it begins at %s", printable.Clip(until), printable.Clip(from)), "until is the first minor that isn't in the range")
	}
}

func (r rowCheck) platforms(names []string, field string) {
	for i, name := range names {
		if !slices.Contains(platforms, name) {
			r.badAt([]any{field, i}, fmt.Sprintf("there is no platform %s", printable.Quote(name)), fmt.Sprintf("write one of %q", platforms))
		}
	}
}
