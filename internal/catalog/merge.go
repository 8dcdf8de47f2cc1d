package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/version"
)

// section is a list of the catalog by its name in YAML.
type section string

const (
	sectionDrivers      section = "drivers"
	sectionReleases     section = "releases"
	sectionCSIProxy     section = "csiProxy"
	sectionWMCO         section = "wmco"
	sectionOperators    section = "operators"
	sectionPayload      section = "payload"
	sectionIncompatible section = "incompatible"
	sectionMigration    section = "migration"
	sectionGates        section = "gates"
	sectionBuilds       section = "builds"
	sectionCommits      section = "commits"
	sectionDigests      section = "digests"
)

type rowKey struct {
	section section
	key     string
}

type rowAt struct {
	doc     *document
	section section
	index   int
}

// place is the node at a path inside the row, and whether all of it exists.
func (r rowAt) place(path []any) (*yaml.Node, bool) {
	return r.doc.node(slices.Concat([]any{string(r.section), r.index}, path)...)
}

// merger puts documents on top of each other and keeps where rows come from.
type merger struct {
	into *Catalog
	docs []*document
	// from has the documents that a row comes from, the last one on top.
	from map[rowKey][]rowAt
	// doubles are rows that one document has twice.
	doubles []rowKey
}

func (m *merger) add(d *document) {
	c := &d.catalog
	m.docs = append(m.docs, d)
	// What one row brings isn't the state of the whole at another day, but a
	// newer catalog on top is.
	m.into.AsOf = max(m.into.AsOf, c.AsOf)
	mergeRows(m, d, sectionDrivers, &m.into.Drivers, c.Drivers, func(r Driver) string { return r.Name }, replaceRow)
	mergeRows(m, d, sectionReleases, &m.into.Releases, c.Releases, func(r Release) string { return r.OpenShift }, mergeRelease)
	mergeRows(m, d, sectionCSIProxy, &m.into.CSIProxy, c.CSIProxy, func(r CSIProxyRelease) string { return r.Version }, replaceRow)
	mergeRows(m, d, sectionWMCO, &m.into.WMCO, c.WMCO, func(r WMCORelease) string { return r.From }, replaceRow)
	mergeRows(m, d, sectionOperators, &m.into.Operators, c.Operators, func(r Operator) string { return r.OpenShift }, replaceRow)
	mergeRows(m, d, sectionPayload, &m.into.Payload, c.Payload, payloadKey, replaceRow)
	mergeRows(m, d, sectionIncompatible, &m.into.Incompatible, c.Incompatible, func(r Incompatibility) string { return r.ID }, replaceRow)
	mergeRows(m, d, sectionMigration, &m.into.Migration, c.Migration, migrationKey, replaceRow)
	mergeRows(m, d, sectionGates, &m.into.Gates, c.Gates, func(r Gate) string { return r.Key }, replaceRow)
	mergeRows(m, d, sectionBuilds, &m.into.Builds, c.Builds, func(r Build) string { return r.Name }, replaceRow)
	mergeRows(m, d, sectionCommits, &m.into.Commits, c.Commits, commitKey, replaceRow)
	mergeRows(m, d, sectionDigests, &m.into.Digests, c.Digests, func(r Digest) string { return r.Digest }, replaceRow)
}

func payloadKey(f PayloadFile) string { return f.Path + " " + f.From }
func migrationKey(r Migration) string { return r.InTree + " " + r.OpenShift }
func replaceRow[T any](_, row T) T    { return row }

// commitKey goes by the digits that all spellings of a commit have: an overlay
// may write it whole where our own data has twelve.
func commitKey(c Commit) string {
	return c.Driver + " " + strings.ToLower(c.Commit[:min(len(c.Commit), shortestCommit)])
}

// mergeRows puts rows over base: one with a known key takes its place.
func mergeRows[T any](m *merger, d *document, s section, into *[]T, rows []T, key func(T) string, over func(old, row T) T) {
	if len(rows) == 0 {
		return
	}
	base := slices.Clone(*into)
	known := make(map[string]int, len(base)+len(rows))
	for i, row := range base {
		known[key(row)] = i
	}
	for i, row := range rows {
		k := rowKey{s, key(row)}
		if old := m.from[k]; len(old) > 0 && old[len(old)-1].doc == d {
			m.doubles = append(m.doubles, k)
		}
		m.from[k] = append(m.from[k], rowAt{d, s, i})
		if at, ok := known[k.key]; ok {
			base[at] = over(base[at], row)
			continue
		}
		known[k.key] = len(base)
		base = append(base, row)
	}
	*into = base
}

// mergeRelease lets a row name only what it changes: what a release ships is
// merged driver by driver.
func mergeRelease(old, row Release) Release {
	merged := old
	merged.Kubernetes = cmp.Or(row.Kubernetes, old.Kubernetes)
	merged.KubeletSkew = cmp.Or(row.KubeletSkew, old.KubeletSkew)
	if row.Next != nil {
		merged.Next = row.Next
	}
	if row.WindowsManaged != nil {
		merged.WindowsManaged = row.WindowsManaged
	}
	merged.WindowsProposed = cmp.Or(row.WindowsProposed, old.WindowsProposed)
	merged.Evidence = slices.Clone(old.Evidence)
	for _, e := range row.Evidence {
		if !slices.Contains(merged.Evidence, e) {
			merged.Evidence = append(merged.Evidence, e)
		}
	}
	merged.Drivers = maps.Clone(old.Drivers)
	if merged.Drivers == nil {
		merged.Drivers = map[string][]Shipped{}
	}
	maps.Copy(merged.Drivers, row.Drivers)
	return merged
}

// sort brings what overlays added into order. Rows that can't be read sort
// first; the check finds them.
func (c *Catalog) sort() {
	slices.SortStableFunc(c.Releases, func(a, b Release) int { return compareMinor(a.OpenShift, b.OpenShift) })
	slices.SortStableFunc(c.CSIProxy, func(a, b CSIProxyRelease) int { return parseDriver(a.Version).Compare(parseDriver(b.Version)) })
	slices.SortStableFunc(c.WMCO, func(a, b WMCORelease) int { return parseWMCO(a.From).Compare(parseWMCO(b.From)) })
	slices.SortStableFunc(c.Operators, func(a, b Operator) int { return compareMinor(a.OpenShift, b.OpenShift) })
	slices.SortStableFunc(c.Payload, func(a, b PayloadFile) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), compareMinor(a.From, b.From))
	})
}

func compareMinor(a, b string) int { return parseMinor(a).CompareMinor(parseMinor(b)) }

// The readers below are for text that the check has seen: what can't be read
// is the zero value.

func parseDriver(s string) version.Driver { v, _ := version.ParseDriver(s); return v }

func parseWMCO(s string) version.WMCO { v, _ := version.ParseWMCO(s); return v }

func parseMinor(s string) version.OpenShift { v, _ := version.ParseOpenShift(s); return v }
