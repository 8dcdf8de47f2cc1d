package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/strictyaml"
)

// row is an entry of one of the catalog's lists. An overlay's takes the place of
// the one with the same key.
type row interface{ key() string }

func (d Driver) key() string          { return d.Name }
func (r Release) key() string         { return r.OpenShift }
func (r CSIProxyRelease) key() string { return r.Version }
func (r WMCORelease) key() string     { return r.From }
func (o Operator) key() string        { return o.OpenShift }
func (f PayloadFile) key() string     { return f.Path + " " + f.From }
func (i Incompatibility) key() string { return i.ID }
func (m Migration) key() string       { return m.InTree + " " + m.OpenShift }
func (g Gate) key() string            { return g.Key }
func (b Build) key() string           { return b.Name }
func (d Digest) key() string          { return d.Digest }

// key goes by the digits that all spellings of a commit have: an overlay
// may write it whole where our own data has twelve.
func (c Commit) key() string {
	return c.Driver + " " + strings.ToLower(c.Commit[:min(len(c.Commit), shortestCommit)])
}

// rowKey is a section, the list's name in YAML, and a row's key in it.
type rowKey struct{ section, key string }

type rowAt struct {
	doc     *document
	section string
	index   int
}

// place is the node at a path inside the row, and whether all of it exists.
func (r rowAt) place(path []any) (*yaml.Node, bool) {
	return r.doc.Node(slices.Concat([]any{r.section, r.index}, path)...)
}

// merger puts documents on top of each other and keeps where rows come from.
type merger struct {
	into *Catalog
	docs []*document
	// from has the documents that a row comes from, the last one on top, and index
	// where it is in its section.
	from  map[rowKey][]rowAt
	index map[rowKey]int
	// doubles are rows that one document has twice.
	doubles []rowKey
}

// sections calls f for each list of the catalog, by its name in YAML.
func (c *Catalog) sections(f func(name string, rows reflect.Value)) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if name := strictyaml.Key(v.Type().Field(i)); v.Field(i).Kind() == reflect.Slice {
			f(name, v.Field(i))
		}
	}
}

func (m *merger) add(d *document) error {
	c, err := d.decode()
	if err != nil {
		return err
	}
	m.docs = append(m.docs, d)
	// What one row brings isn't the state of the whole at another day, but a
	// newer catalog on top is.
	m.into.AsOf = max(m.into.AsOf, c.AsOf)
	into := map[string]reflect.Value{}
	m.into.sections(func(name string, rows reflect.Value) { into[name] = rows })
	c.sections(func(name string, rows reflect.Value) {
		for i := range rows.Len() {
			m.put(rowAt{d, name, i}, into[name], rows.Index(i))
		}
	})
	return nil
}

// put adds a row, or has it take the place of the one with its key.
func (m *merger) put(from rowAt, into, fresh reflect.Value) {
	k := rowKey{from.section, fresh.Interface().(row).key()}
	if old := m.from[k]; len(old) > 0 && old[len(old)-1].doc == from.doc {
		m.doubles = append(m.doubles, k)
	}
	m.from[k] = append(m.from[k], from)
	at, known := m.index[k]
	if !known {
		m.index[k] = into.Len()
		into.Set(reflect.Append(into, fresh))
		return
	}
	if r, release := fresh.Interface().(Release); release {
		fresh = reflect.ValueOf(mergeRelease(into.Index(at).Interface().(Release), r))
	}
	into.Index(at).Set(fresh)
}

// mergeRelease lets a row name only what it changes: what a release ships is
// merged driver by driver.
func mergeRelease(old, row Release) Release {
	old.Kubernetes = cmp.Or(row.Kubernetes, old.Kubernetes)
	old.KubeletSkew = cmp.Or(row.KubeletSkew, old.KubeletSkew)
	if row.Next != nil {
		old.Next = row.Next
	}
	if row.WindowsManaged != nil {
		old.WindowsManaged = row.WindowsManaged
	}
	old.WindowsProposed = cmp.Or(row.WindowsProposed, old.WindowsProposed)
	for _, e := range row.Evidence {
		if !slices.Contains(old.Evidence, e) {
			old.Evidence = append(old.Evidence, e)
		}
	}
	if old.Drivers == nil {
		old.Drivers = map[string][]Shipped{}
	}
	maps.Copy(old.Drivers, row.Drivers)
	return old
}

// sort brings what overlays added into order. Rows that can't be read sort
// first; the check finds them.
func (c *Catalog) sort() {
	slices.SortStableFunc(c.Releases, func(a, b Release) int { return compareMinor(a.OpenShift, b.OpenShift) })
	slices.SortStableFunc(c.CSIProxy, func(a, b CSIProxyRelease) int { return compareDriver(a.Version, b.Version) })
	slices.SortStableFunc(c.WMCO, func(a, b WMCORelease) int { return compareWMCO(a.From, b.From) })
	slices.SortStableFunc(c.Operators, func(a, b Operator) int { return compareMinor(a.OpenShift, b.OpenShift) })
	slices.SortStableFunc(c.Payload, func(a, b PayloadFile) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), compareMinor(a.From, b.From))
	})
}

// checkNeighbours finds rows of a section that hold for the same, or have the same name.
func (k *checker) checkNeighbours() {
	taken := map[string]bool{}
	for _, d := range k.into.Drivers {
		for field, value := range map[string]string{"provisioner": d.Provisioner, "inTree": d.InTree, "payload": d.Payload} {
			if value != "" && taken[field+" "+value] {
				rowCheck{k, rowKey{"drivers", d.key()}}.badAt([]any{field}, fmt.Sprintf("another driver has the %s %s too", field, printable.Quote(value)), "correct one of them")
			}
			taken[field+" "+value] = true
		}
	}
	for i, w := range k.into.WMCO[min(1, len(k.into.WMCO)):] {
		before := k.into.WMCO[i]
		rowCheck{k, rowKey{"wmco", w.key()}}.follows(nil, "range", "version", before.From, before.Until, w.From, compareWMCO)
	}
	for i, f := range k.into.Payload {
		for _, before := range k.into.Payload[:i] {
			if before.Path == f.Path {
				rowCheck{k, rowKey{"payload", f.key()}}.follows(nil, "row", "release", before.From, before.Until, f.From, compareMinor)
			}
		}
	}
}
