package catalog

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/version"
)

const head = "apiVersion: winbake.dev/catalog/v1\n"

// with loads the catalog with one overlay, head and text.
func with(t *testing.T, text string) *Catalog {
	t.Helper()
	c, err := LoadWith(Overlay{"o.yaml", []byte(head + text)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOverlayAdds(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	c := with(t, `
digests:
  - {digest: "`+digest+`", driver: azure-file, version: v1.33.3, variant: windows-hp}
commits:
  - {driver: vsphere, commit: 0123456789abcdef0123456789abcdef01234567, version: 3.6.1}
csiProxy:
  - {version: 1.4.0, date: "2026-10-01", groups: [disk-v1], flags: [], wmic: false, evidence: [{source: lab}]}
releases:
  - openshift: "5.1"
    kubernetes: "1.37"
    kubeletSkew: 1
    drivers: {vsphere: [{version: 3.8.0, certainty: default, evidence: [{source: lab}]}]}
    evidence: [{source: lab}]
  - {openshift: "5.0", next: ["5.1"]}
`)
	if d, ok := c.ByDigest(digest); !ok || d.Version != "v1.33.3" || d.Variant != "windows-hp" {
		t.Errorf("digest: %+v %v", d, ok)
	}
	if got, ok := c.ByCommit("vsphere", "0123456789ab"); !ok || got.Version != "3.6.1" {
		t.Errorf("commit: %+v %v", got, ok)
	}
	if got := c.Proxy(version.MustDriver("1.5.0")); got.Version != "1.4.0" {
		t.Errorf("csi-proxy: %s", got.Version)
	}
	if got, err := c.Path("4.22", "5.1"); err != nil || !slices.Equal(got, []string{"4.22", "5.0", "5.1"}) {
		t.Errorf("path: %v, %v", got, err)
	}
	if got := c.Latest(); got.OpenShift != "5.1" {
		t.Errorf("latest: %s", got.OpenShift)
	}
	if _, ok := load(t).ByDigest(digest); ok || load(t).Release("5.1") != nil || load(t).Release("5.0").Next != nil {
		t.Error("an overlay changed the catalog that everybody shares")
	}
}

func TestOverlayOverrides(t *testing.T) {
	c := with(t, `
asOf: "2026-12-24"
commits:
  - {driver: vsphere, commit: 74481e34aa9c, version: 3.1.1}
releases:
  - openshift: "4.20"
    drivers:
      azure-file:
        - {version: 1.33.3, untilZ: 9, certainty: range, evidence: [{source: lab}]}
        - {version: 1.33.9, fromZ: 10, certainty: range, evidence: [{source: lab}]}
wmco:
  - {from: 11.0.0, openshift: "5.0", csiProxy: 1.3.0, evidence: [{source: lab}]}
incompatible:
  - {id: ebs-topology-key, driver: aws-ebs, linux: ">=1.33.0", windows: "<1.28.0", severity: WARN, why: ours has the labels, remedy: none, when: after, evidence: [{source: lab}]}
drivers:
  - name: smb
    title: our own SMB
    provisioner: smb.csi.k8s.io
    evidence: [{source: lab}]
`)
	if c.AsOf != "2026-12-24" {
		t.Errorf("as of %s", c.AsOf)
	}
	if got, _ := c.ByCommit("vsphere", "74481e34aa9c"); got.Version != "3.1.1" {
		t.Errorf("commit: %+v", got)
	}
	for release, want := range map[string]string{"4.20.9": "1.33.3", "4.20.10": "1.33.9"} {
		v, _ := version.ParseOpenShift(release)
		if got := cell(c.Ships(v, "azure-file")); got != want {
			t.Errorf("%s: %s, want %s", release, got, want)
		}
		if got := cell(c.Ships(v, "vsphere")); got != "3.5.0" {
			t.Errorf("%s: vSphere, which the overlay doesn't name, is %s", release, got)
		}
	}
	if r := c.Release("4.20"); r.Kubernetes != "1.33" || len(r.Next) != 1 || len(r.Evidence) == 0 {
		t.Errorf("what the overlay doesn't name is lost: %+v", r)
	}
	if got := c.WMCORelease(version.WMCO{Major: 12}); got == nil || got.CSIProxy != "1.3.0" {
		t.Errorf("WMCO: %+v", got)
	}
	if got := filter(c.Incompatible, func(i *Incompatibility) bool { return i.Driver == "aws-ebs" }); len(got) != 1 || got[0].Severity != "WARN" {
		t.Errorf("incompatible: %+v", got)
	}
	if d := c.Driver("smb"); d.Title != "our own SMB" || d.Lines != nil {
		t.Errorf("driver: %+v", d)
	}
	if len(c.Drivers) != len(load(t).Drivers) || len(c.Commits) != len(load(t).Commits) {
		t.Error("a row was added and not replaced")
	}
}

// TestOverlaysStack: the last one wins, and a file may be JSON.
func TestOverlaysStack(t *testing.T) {
	digest := "sha256:" + strings.Repeat("b", 64)
	first := Overlay{"1.yaml", []byte(head + `digests: [{digest: "` + digest + `", driver: smb, version: 1.16.0}]`)}
	second := Overlay{"2.json", []byte(`{"apiVersion": "winbake.dev/catalog/v1", "digests": [{"digest": "` + digest + `", "driver": "smb", "version": "1.17.0"}]}`)}
	c, err := LoadWith(first, second)
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := c.ByDigest(digest); d.Version != "1.17.0" || len(c.Digests) != 1 {
		t.Errorf("%+v of %d", d, len(c.Digests))
	}
}

func TestReadOverlays(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.yml": "b", "a.yaml": "a", "c.JSON": "c", "notes.txt": "no"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := ReadOverlays(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range got {
		names = append(names, filepath.Base(o.Name)+"="+string(o.Data))
	}
	if want := []string{"a.yaml=a", "b.yml=b", "c.JSON=c"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	one, err := ReadOverlays(filepath.Join(dir, "notes.txt"))
	if err != nil || len(one) != 1 || string(one[0].Data) != "no" {
		t.Errorf("a file that is named: %v, %v", one, err)
	}
	for _, path := range []string{filepath.Join(dir, "nowhere"), filepath.Join(dir, "d.yaml")} {
		var f *fault.Error
		if _, err := ReadOverlays(path); !errors.As(err, &f) || f.Where != path || f.Fix == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.yaml")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(infile.Text+5), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOverlays(path); err == nil || !strings.Contains(err.Error(), "it has more than 16777216 bytes") {
		t.Errorf("%v", err)
	}
}

// TestOwnDataAsOverlay: what the catalog says is itself a valid overlay.
func TestOwnDataAsOverlay(t *testing.T) {
	files, err := embedded.ReadDir("data")
	if err != nil {
		t.Fatal(err)
	}
	var overlays []Overlay
	for _, f := range files {
		data, err := embedded.ReadFile("data/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if f.Name() != "catalog.yaml" {
			data = slices.Concat([]byte(head), data)
		}
		overlays = append(overlays, Overlay{f.Name(), data})
	}
	c, err := LoadWith(overlays...)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Commits) != len(load(t).Commits) || len(c.Migration) != len(load(t).Migration) {
		t.Error("rows were added and not replaced")
	}
}

// TestPrintedIsOverlay: what `verify catalog -o yaml` and -o json print can be
// edited and given back.
func TestPrintedIsOverlay(t *testing.T) {
	own := with(t, "csiProxy: [{version: 1.4.0, date: \"2026-10-01\", groups: [disk-v1], evidence: [{source: lab}]}]\ndigests:\n")
	for name, marshal := range map[string]func(any) ([]byte, error){"yaml": yaml.Marshal, "json": json.Marshal} {
		text, err := marshal(own)
		if err != nil {
			t.Fatal(err)
		}
		c, err := LoadWith(Overlay{name, text})
		if err != nil {
			t.Fatal(err)
		}
		again, err := marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(text) {
			t.Errorf("%s: the catalog isn't what it was", name)
		}
	}
}

func FuzzOverlay(f *testing.F) {
	for _, tc := range badOverlays {
		text := strings.Replace(tc.text, mark, "", 1)
		f.Add([]byte(text))
		f.Add([]byte(head + text))
	}
	f.Add([]byte(head + "a: &a [*a]\nb: *a"))
	f.Add([]byte(head + "releases: [{openshift: '4.20', drivers: {smb: [{version: 1.2.3, certainty: exact, fromZ: 3, evidence: [{source: x}]}]}}]"))
	f.Add([]byte(head + "releases: [{openshift: '4.22', next: ['4.23', '5.0', '5.0']}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := LoadWith(Overlay{"o.yaml", data})
		if err != nil {
			var fe *fault.Error
			if !errors.As(err, &fe) || !strings.HasPrefix(fe.Where, "o.yaml") || fe.What == "" {
				t.Fatalf("%v", err)
			}
			if strings.ContainsAny(err.Error(), "\x1b\x07\r") {
				t.Fatalf("the error writes to the terminal: %q", err)
			}
			return
		}
		for i := range c.Drivers {
			for _, l := range c.Drivers[i].Lines {
				if got := c.Drivers[i].Line(version.MustDriver(l.From)); got == nil {
					t.Errorf("%s: no line holds %s", c.Drivers[i].Name, l.From)
				}
			}
		}
		for _, r := range c.Releases {
			if _, err := c.Path(r.OpenShift, c.Latest().OpenShift); err != nil && !errors.Is(err, ErrNoPath) {
				t.Error(err)
			}
		}
	})
}
