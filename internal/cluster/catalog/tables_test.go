package catalog

import (
	"regexp"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
)

// own is the embedded catalog.
func load(t testing.TB) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shippedTable is what each minor ships, several versions where one was rebased
// inside it: "-" isn't shipped, "?" isn't known.
const shippedTable = `
     aws-ebs      azure-disk     azure-file     gcp-pd  vsphere                 smb     secrets-store
4.8  1.1.0,1.4.0  1.1.1          -              1.1.0   2.2.0-rc.3              -       -
4.9  1.2.0,1.4.0  1.5.1          -              1.3.1   2.3.0-rc.3              -       -
4.10 1.5.1        1.9.0          1.8.0          1.3.4   2.4.1                   -       -
4.11 1.5.1        1.16.0         1.14.0         1.5.1   2.5.1                   -       -
4.12 1.11.4       1.22.0         1.21.0         1.7.3   2.6.1,2.7.1-rc.1        -       -
4.13 1.15.0       1.26.1,1.26.7  1.25.1         1.8.2   3.0.0-rc.1,3.0.1,3.0.2  -       -
4.14 1.18.0       1.28.1         1.28.1,1.29.5  1.10.1  3.0.2                   -       1.3.4
4.15 1.25.0       1.29.0         1.29.2,1.29.5  1.12.2  3.0.2                   -       1.3.4
4.16 1.26.1       1.29.3         1.29.5         1.13.0  3.1.2                   1.14.0  1.4.0
4.17 1.32.0       1.29.7         1.30.3         1.14.1  3.2.0                   1.15.0  1.4.4
4.18 1.34.0       1.31.1         1.30.5         1.15.2  3.3.1                   1.16.0  1.4.5
4.19 1.39.0       1.32.0         1.32.0,1.32.3  1.17.4  3.3.1                   1.17.0  1.4.8
4.20 1.45.0       1.33.1         1.33.3         1.20.0  3.5.0                   1.18.0  1.5.2
4.21 1.48.0       1.33.5,1.34.2  1.34.1         1.21.6  3.6.0                   1.18.0  1.5.4
4.22 1.48.0       1.34.2         1.35.0         1.24.1  3.6.0                   1.18.0  1.5.6
4.23 1.48.0       1.34.2         1.35.0         1.24.1  3.7.1                   ?       1.6.0
5.0  1.48.0       1.34.2         1.35.0         1.24.1  3.7.1                   ?       1.6.0
`

func TestEveryCellOfTheTables(t *testing.T) {
	c := load(t)
	lines := strings.Split(strings.TrimSpace(shippedTable), "\n")
	names := strings.Fields(lines[0])
	if len(c.Releases) != len(lines)-1 {
		t.Errorf("%d releases, want %d", len(c.Releases), len(lines)-1)
	}
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		minor, err := version.ParseOpenShift(cells[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range cells[1:] {
			if got := cell(c.Ships(minor, names[i])); got != want {
				t.Errorf("%s %s: %s, want %s", cells[0], names[i], got, want)
			}
		}
	}
}

// cell writes rows as the table does.
func cell(rows []Shipped) string {
	if len(rows) == 0 {
		return "-"
	}
	var versions []string
	for _, row := range rows {
		if row.Version == "" {
			row.Version = "?"
		}
		versions = append(versions, row.Version)
	}
	return strings.Join(versions, ",")
}

// migrationTable is Linux/Windows for the minors in which it changes.
const migrationTable = `
                              4.8  4.9  4.10 4.11 4.12 4.13        4.14     4.15     4.16     4.17     5.0
kubernetes.io/aws-ebs         off  off  off  off  on   on          removed  removed  removed  removed  removed
kubernetes.io/azure-disk      off  off  off  on   on   on          removed  removed  removed  removed  removed
kubernetes.io/azure-file      off  off  off  off  off  on          on       on       on       removed  removed
kubernetes.io/gce-pd          off  off  off  off  on   on          on       removed  removed  removed  removed
kubernetes.io/vsphere-volume  off  off  off  off  off  opt-in/off  on       on       on       removed  removed
`

func TestMigrationTable(t *testing.T) {
	c := load(t)
	lines := strings.Split(strings.TrimSpace(migrationTable), "\n")
	minors := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		for i, want := range cells[1:] {
			m := c.MigrationOf(cells[0], minors[i])
			if m == nil {
				t.Errorf("%s in %s: no row", cells[0], minors[i])
				continue
			}
			linux, windows, differ := strings.Cut(want, "/")
			if !differ {
				windows = linux
			}
			if string(m.Linux) != linux || string(m.Windows) != windows {
				t.Errorf("%s in %s: %s/%s, want %s", cells[0], minors[i], m.Linux, m.Windows, want)
			}
		}
	}
	for _, r := range c.Releases {
		for _, d := range c.Drivers {
			if d.InTree != "" && c.MigrationOf(d.InTree, r.OpenShift) == nil {
				t.Errorf("%s in %s: no row", d.InTree, r.OpenShift)
			}
		}
	}
	if m := c.MigrationOf("kubernetes.io/cinder", "4.20"); m != nil {
		t.Errorf("cinder: %+v", m)
	}
	if m := c.MigrationOf("kubernetes.io/azure-file", "6.0"); m != nil {
		t.Errorf("6.0: %+v", m)
	}
}

// TestSources holds our own data to more than overlays are: sources that
// somebody can look up.
func TestSources(t *testing.T) {
	source := regexp.MustCompile(`^(https://\S+|[\w.-]+/[\w.-]+@[\w./-]+:[\w./-]+(#L\d+(-L\d+)?)?)$`)
	c := load(t)
	check := func(what string, list []Evidence) {
		for _, e := range list {
			if !source.MatchString(e.Source) {
				t.Errorf("%s: the source %q is neither a URL nor repository@ref:path", what, e.Source)
			}
		}
	}
	for _, d := range c.Drivers {
		check(d.Name, d.Evidence)
		for _, l := range d.Lines {
			check(d.Name+" "+l.From, l.Evidence)
		}
	}
	for _, r := range c.Releases {
		check(r.OpenShift, r.Evidence)
		for name, rows := range r.Drivers {
			for _, row := range rows {
				check(r.OpenShift+" "+name+" "+row.Version, row.Evidence)
			}
		}
	}
	for _, r := range c.CSIProxy {
		check("csi-proxy "+r.Version, r.Evidence)
	}
	for _, r := range c.WMCO {
		check("WMCO "+r.From, r.Evidence)
	}
	for _, f := range c.Payload {
		check(f.Path, f.Evidence)
	}
	for _, r := range c.Incompatible {
		check(r.ID, r.Evidence)
	}
	for _, m := range c.Migration {
		check(m.key(), m.Evidence)
	}
	for _, g := range c.Gates {
		check(g.Key, g.Evidence)
	}
}

// What an operator from OperatorHub has is known by a branch's last commit alone: each
// row says of which day that is. The catalog's own day would promise more.
func TestOperatorsRowsHaveADayOfTheirOwn(t *testing.T) {
	n := 0
	for _, r := range load(t).Releases {
		for _, row := range r.Drivers["smb"] {
			if n++; (row.Head == "") != (row.Version == "") {
				t.Errorf("%s: SMB %q, head %q", r.OpenShift, row.Version, row.Head)
			}
		}
	}
	if n != 9 {
		t.Errorf("%d rows", n)
	}
}
