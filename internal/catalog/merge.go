package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/printable"
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

// Overlay is a partial Catalog document that adds rows or overrides them:
//
//	apiVersion: winbake.dev/catalog/v1
//	digests:
//	  - {digest: "sha256:...", driver: azure-file, version: 1.33.3}
type Overlay struct {
	// Name is shown in errors: the file's path.
	Name string
	Data []byte
}

// ReadOverlays reads a file, or the *.yaml, *.yml and *.json files of a folder
// (not of folders in it) in the order of their names. Errors are *fault.Error.
func ReadOverlays(path string) ([]Overlay, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		o, err := readOverlay(path)
		if err != nil {
			return nil, err
		}
		return []Overlay{o}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	var overlays []Overlay
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name()))) {
			continue
		}
		o, err := readOverlay(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		overlays = append(overlays, o)
	}
	if len(overlays) == 0 {
		return nil, &fault.Error{Where: path, What: "the folder has no *.yaml, *.yml or *.json file", Fix: "name the folder that holds the catalog data, or the file itself"}
	}
	return overlays, nil
}

func readOverlay(path string) (Overlay, error) {
	f, err := infile.Open(path)
	if err != nil {
		return Overlay{}, unreadable(path, err)
	}
	defer f.Close()
	// One byte more than is allowed, so that parse can tell.
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return Overlay{}, unreadable(path, err)
	}
	return Overlay{path, data}, nil
}

func unreadable(path string, err error) error {
	what := "the catalog data can't be read: " + infile.Cause(err)
	if errors.Is(err, fs.ErrNotExist) {
		what = "no such file or folder"
	}
	return &fault.Error{Where: path, What: what, Fix: "check the path that was given: --catalog DIR|FILE", Err: err}
}

var day = regexp.MustCompile(`^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`)

func (d *document) checkHead() error {
	if n, found := d.node("kind"); found && d.catalog.Kind != kindName {
		return d.at(n, "kind "+printable.Quote(d.catalog.Kind)+" isn't known", "write: kind: "+kindName+", or nothing of it")
	}
	switch n, found := d.node("apiVersion"); {
	case !found:
		return d.at(d.root, "apiVersion is missing", "begin the file with: apiVersion: "+apiVersion)
	case d.catalog.APIVersion != apiVersion:
		return d.at(n, fmt.Sprintf("apiVersion %s isn't known", printable.Quote(d.catalog.APIVersion)), "write: apiVersion: "+apiVersion)
	}
	if n, found := d.node("asOf"); found && !day.MatchString(d.catalog.AsOf) {
		return d.at(n, fmt.Sprintf("asOf %s is no day", printable.Quote(d.catalog.AsOf)), `write it as "2026-08-31"`)
	}
	return nil
}
