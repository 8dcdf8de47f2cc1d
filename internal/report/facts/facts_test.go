package facts

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

func TestCatalogShowsEveryRelease(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Catalog(&out, c); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Releases {
		if !strings.Contains(out.String(), "\n"+r.OpenShift+" ") {
			t.Errorf("no row for %s", r.OpenShift)
		}
	}
	if !strings.Contains(out.String(), c.AsOf) {
		t.Error("the table doesn't say its date")
	}
	for i := range c.Drivers {
		out.Reset()
		if err := Driver(&out, c, &c.Drivers[i]); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Drivers[i].Evidence {
			if !strings.Contains(out.String(), e.Source) {
				t.Errorf("%s: no evidence %s", c.Drivers[i].Name, e.Source)
			}
		}
	}
}

func TestPatches(t *testing.T) {
	at := func(n int) *int { return &n }
	for want, s := range map[string]catalog.Shipped{
		"all":                           {},
		"to 4.14.24":                    {UntilZ: at(24)},
		"from 4.14.25":                  {FromZ: at(25)},
		"4.14.1 to .8 (give or take 1)": {FromZ: at(1), UntilZ: at(8), FuzzyZ: 1},
	} {
		if got := patches("4.14", s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Whatever stands in a manifest, it can't steer the terminal or forge a line.
func TestHostileStrings(t *testing.T) {
	const evil = "a\x1b[2J\nDaemonSet forged\u202e"
	inv := &inventory.Inventory{
		Sources:  []inventory.Source{{Kind: "manifests", Name: evil}},
		Drivers:  []inventory.Driver{{Object: inventory.Object{Kind: "DaemonSet", Name: evil}, Provisioner: evil, Evidence: []inventory.Evidence{{Where: evil, Text: evil}}}},
		Nodes:    []inventory.Node{{Name: evil, CSIProxy: &inventory.VersionFact{Version: version.MustDriver("1.1.3")}}},
		Volumes:  []inventory.VolumeUse{{Volume: evil}},
		SetAside: []inventory.SetAside{{Reason: evil}},
		Problems: []inventory.Problem{{Where: evil, What: evil, Fix: evil}},
	}
	var out bytes.Buffer
	if err := Inventory(&out, inv); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("control characters came through:\n%q", out.String())
	}
	if slices.Contains(strings.Split(out.String(), "\n"), "DaemonSet forged") {
		t.Error("a name made a line of its own")
	}
}
