package docs

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

// columns are the modes and csi-proxies that drivers were run in and beside.
var columns = []struct{ title, mode, proxy string }{
	{"HostProcess", "hostprocess", ""},
	{"no csi-proxy", "pipes", ""},
	{"csi-proxy 0.2.2", "pipes", "0.2.2"},
	{"csi-proxy 1.1.3", "pipes", "1.1.3"},
	{"csi-proxy 1.3.0", "pipes", "1.3.0"},
}

// tried is a driver at one version, with how each column went.
type tried struct {
	driver, version string
	releases        []string
	cells           []string
	fills           []string
}

// runs are those of the catalog; releases whose commits did the same are one.
func runs(c *catalog.Catalog) []tried {
	var all []tried
	for _, b := range c.Builds {
		if b.Sidecar() {
			continue
		}
		for _, h := range b.Heads {
			r := tried{driver: strings.TrimSuffix(c.Driver(b.Name).Title, " CSI driver"), version: h.Version, releases: []string{h.OpenShift}}
			seen := false
			for _, col := range columns {
				i := slices.IndexFunc(b.Executed, func(e catalog.Execution) bool {
					return e.Commit == h.Commit && e.Mode == col.mode && e.CSIProxy == col.proxy
				})
				text, fill := "", "none"
				if i >= 0 {
					seen = true
					text, fill = words(b.Executed[i])
				}
				r.cells, r.fills = append(r.cells, text), append(r.fills, fill)
			}
			same := len(all) > 0 && all[len(all)-1].version == r.version && all[len(all)-1].driver == r.driver && slices.Equal(all[len(all)-1].cells, r.cells)
			switch {
			case seen && same:
				all[len(all)-1].releases = append(all[len(all)-1].releases, h.OpenShift)
			case seen:
				all = append(all, r)
			}
		}
	}
	return all
}

// words are how a run went, and its colour.
func words(e catalog.Execution) (text, fill string) {
	switch e.Failed {
	case "":
		return "whole way", "#a6d8a8"
	case "GetPluginInfo":
		return "ends", "#d9d9d9"
	case "NodeGetInfo":
		return "no node info; " + strings.TrimPrefix(e.Note, "Wine has "), "#f0dca8"
	case "NodeUnstageVolume":
		return "published; " + strings.TrimPrefix(e.Note, "Wine has "), "#d5ecbf"
	}
	return "answers; " + strings.TrimPrefix(e.Note, "Wine has "), "#bcd4ee"
}

// TestDrivers holds docs/drivers.svg to the catalog.
func TestDrivers(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	all := runs(c)
	if len(all) != 44 {
		t.Errorf("%d drivers were run", len(all))
	}
	path, want := filepath.Join(top, "docs/drivers.svg"), picture(all)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, path) != want {
		t.Errorf("%s is behind the catalog: go test ./test/docs -run Drivers -update", path)
	}
}

// picture draws a row for each driver, and a column for each way to run it.
func picture(all []tried) string {
	const left, width, height = 300, 170, 24
	var b strings.Builder
	text := func(x, y int, s string) {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s</text>\n", x, y, html.EscapeString(s))
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n<title>How far each driver came in Wine</title>\n",
		left+width*len(columns), height*(1+len(all)))
	for i, c := range columns {
		text(left+width*i+6, 16, c.title)
	}
	for j, r := range all {
		y := height * (j + 1)
		text(4, y+16, r.driver+" v"+r.version+": "+strings.Join(r.releases, ", "))
		for i := range columns {
			if r.cells[i] == "" {
				continue
			}
			fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", left+width*i+1, y+1, width-2, height-2, r.fills[i])
			text(left+width*i+6, y+16, r.cells[i])
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
