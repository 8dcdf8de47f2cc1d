package catalog

import (
	"slices"
	"testing"
)

// What programs did when they ran is what was read of their sources. Beside a
// csi-proxy that has it, a driver dials the newest version of each group of its line;
// beside an older one the others; and without csi-proxy it ends.
func TestExecutedAgreesWithRead(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, b := range c.Builds {
		for _, e := range b.Executed {
			seen++
			name := b.Name + " v" + e.Version + ", " + e.Mode + ", csi-proxy " + e.CSIProxy
			line := c.Driver(b.Name).Line(parseDriver(e.Version))
			if line == nil {
				t.Errorf("%s ran, and no line holds it", name)
				continue
			}
			if e.Mode == "hostprocess" && (!line.CanHostProcess() || len(e.Pipes) > 0) || e.Mode == "pipes" && line.HostProcessOnly() {
				t.Errorf("%s dialled %v, which its line doesn't have", name, e.Pipes)
			}
			if want := dialled(c, line, e); e.Mode == "pipes" && !slices.Equal(e.Pipes, want) {
				t.Errorf("%s dialled %v, its line says %v", name, e.Pipes, want)
			}
			if works := e.Failed != "GetPluginInfo"; e.Mode == "pipes" && works != (e.CSIProxy != "" && served(c, line, e.CSIProxy)) {
				t.Errorf("%s answers: %t, and the catalog says otherwise", name, works)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d runs are noted", seen)
	}
}

// dialled are the pipes that a driver must have tried, sorted: of its first group
// the newest, then an older one; of the others the one that csi-proxy has.
func dialled(c *Catalog, line *Line, e Execution) []string {
	var all []string
	for _, u := range line.API {
		if u.Group != "filesystem" && (e.CSIProxy == "" || !served(c, line, e.CSIProxy)) {
			continue
		}
		for _, v := range u.Versions {
			has := c.csiProxyServes(e.CSIProxy, u.Group+"-"+v)
			if u.Group == "filesystem" || has {
				all = append(all, u.Group+"-"+v)
			}
			if has {
				break
			}
		}
	}
	slices.Sort(all)
	return all
}

// served reports whether csi-proxy has a version of each group of a line.
func served(c *Catalog, line *Line, proxy string) bool {
	for _, u := range line.API {
		if !slices.ContainsFunc(u.Versions, func(v string) bool { return c.csiProxyServes(proxy, u.Group+"-"+v) }) {
			return false
		}
	}
	return true
}

func (c *Catalog) csiProxyServes(version, pipe string) bool {
	i := slices.IndexFunc(c.CSIProxy, func(p CSIProxyRelease) bool { return p.Version == version })
	return i >= 0 && slices.Contains(c.CSIProxy[i].Groups, pipe)
}
