package winedriver

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/test/wine/winenode"
)

// Proxies are the csi-proxies that the repository pins, by version.
func Proxies(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{"1.1.3": winenode.Built(t, winenode.CSIProxy11, "csi-proxy"), "1.3.0": winenode.Built(t, winenode.CSIProxy13, "csi-proxy")}
}

// Cases are each mode of a driver's line, and over pipes each csi-proxy and none.
func Cases(driver string, line *catalog.Line, exe string, proxies map[string]string) []Case {
	var all []Case
	if line.CanHostProcess() {
		all = append(all, Case{Driver: driver, Exe: exe, HostProcess: true})
	}
	if line.HostProcessOnly() {
		return all
	}
	all = append(all, Case{Driver: driver, Exe: exe})
	for _, v := range slices.Sorted(maps.Keys(proxies)) {
		all = append(all, Case{Driver: driver, Exe: exe, Proxy: proxies[v], ProxyVersion: v})
	}
	return all
}

// servedBy are the pipes that the catalog says a csi-proxy serves, sorted.
func servedBy(cat *catalog.Catalog, proxy string) []string {
	i := slices.IndexFunc(cat.CSIProxy, func(p catalog.CSIProxyRelease) bool { return p.Version == proxy })
	if i < 0 {
		return nil
	}
	return slices.Sorted(slices.Values(cat.CSIProxy[i].Groups))
}

// Mode is the catalog's word for how the driver runs.
func (c Case) Mode() string {
	if c.HostProcess {
		return "hostprocess"
	}
	return "pipes"
}

// String names the case.
func (c Case) String() string {
	if c.Mode() == "hostprocess" {
		return c.Mode()
	}
	return strings.TrimSuffix(c.Mode()+" "+c.ProxyVersion, " ")
}

// Row is the catalog's row of a case, nil for none. An empty commit is any.
func Row(b *catalog.Build, version, commit string, c Case) *catalog.Execution {
	i := slices.IndexFunc(b.Executed, func(e catalog.Execution) bool {
		return e.Version == version && (commit == "" || e.Commit == commit) && e.Mode == c.Mode() && e.CSIProxy == c.ProxyVersion
	})
	if i < 0 {
		return nil
	}
	return &b.Executed[i]
}

// Check holds an outcome to the catalog: the driver's name, the version that was
// stamped, csi-proxy's pipes, and the row of the case. It reports whether the
// catalog has a row.
func Check(t testing.TB, cat *catalog.Catalog, c Case, o Outcome, stamped, commit string) bool {
	t.Helper()
	d := cat.Driver(c.Driver)
	if o.Failed != "GetPluginInfo" && (o.Name != d.Provisioner || o.Version != stamped) {
		t.Errorf("GetPluginInfo is %s %s, want %s %s", o.Name, o.Version, d.Provisioner, stamped)
	}
	if c.Proxy != "" && !slices.Equal(o.Served, servedBy(cat, c.ProxyVersion)) {
		t.Errorf("csi-proxy %s serves %v, and the catalog says %v", c.ProxyVersion, o.Served, servedBy(cat, c.ProxyVersion))
	}
	row := Row(cat.Build(c.Driver), stamped, commit, c)
	if row == nil {
		return false
	}
	if row.Failed != o.Failed || !slices.Equal(row.Pipes, o.Pipes) || !slices.Equal(row.Asked, o.Asked) {
		t.Errorf("%s: it failed at %q, dialled %v and asked for %v; the catalog says %q, %v and %v\n%s\n%s",
			c, o.Failed, o.Pipes, o.Asked, row.Failed, row.Pipes, row.Asked, o.Error, o.Log)
	}
	return true
}
