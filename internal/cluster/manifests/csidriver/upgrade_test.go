package csidriver_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver/present"
)

func oldOf(t *testing.T, cat *catalog.Catalog, text []byte) *csidriver.Old {
	t.Helper()
	old, err := present.Parse(cat, "old.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return old
}

// TestUpgrades writes every release's DaemonSet as the old one of the next that
// is served: each change has a reason, and what changes of version, mode and
// pipes is among them. A folder compared with itself changes nothing.
func TestUpgrades(t *testing.T) {
	cat := load(t)
	tried := 0
	for _, driver := range csidriver.Drivers() {
		var before *csidriver.Folder
		for _, r := range releases(cat) {
			folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, r)})
			if err != nil {
				continue
			}
			name := driver + " to " + r
			own := compare(t, cat, folder, folder)
			if len(own.Changes) > 0 || own.Delete != "" || own.Back {
				t.Errorf("%s: against itself %+v", name, own)
			}
			if before != nil {
				tried++
				checkUpgrade(t, name, before, folder, compare(t, cat, before, folder))
			}
			before = folder
		}
	}
	if tried != 73 {
		t.Errorf("%d were tried", tried)
	}
}

func compare(t *testing.T, cat *catalog.Catalog, from, to *csidriver.Folder) *csidriver.Upgrade {
	t.Helper()
	for _, f := range from.Files {
		if f.Name != "08-daemonset.yaml" {
			continue
		}
		old := oldOf(t, cat, f.Data)
		if old.OldVersion() != from.Version.Core() {
			t.Errorf("the old version is %s, want %s", old.OldVersion(), from.Version.Core())
		}
		u := to.Compare(cat, old)
		return u
	}
	t.Fatal("there is no DaemonSet")
	return nil
}

func checkUpgrade(t *testing.T, name string, from, to *csidriver.Folder, u *csidriver.Upgrade) {
	t.Helper()
	has := func(part string) bool {
		return slices.ContainsFunc(u.Changes, func(c csidriver.Change) bool { return strings.Contains(c.Where, part) })
	}
	for _, c := range u.Changes {
		if c.Why == "" || c.From == c.To {
			t.Errorf("%s: %+v", name, c)
		}
	}
	switched := from.HostProcess != to.HostProcess
	if has("pod/HostProcess") != switched || has(`mount \\.\pipe`) != switched || has("SCC") != switched {
		t.Errorf("%s: the mode changes: %t; %+v", name, switched, u.Changes)
	}
	if changed := from.Version != to.Version; changed && !has("/image") {
		t.Errorf("%s: no image changes", name)
	}
	if u.Delete != "" || u.Back != (from.Version.Compare(to.Version) > 0) {
		t.Errorf("%s: %+v", name, u)
	}
}

// TestUpgradeOfTheExample keeps the diff that most people will see.
func TestUpgradeOfTheExample(t *testing.T) {
	cat := load(t)
	text, err := os.ReadFile("../../../../examples/cluster-4.19-vsphere/driver.yaml")
	if err != nil {
		t.Fatal(err)
	}
	old := oldOf(t, cat, text)
	folder, err := csidriver.Render(cat, csidriver.Options{Driver: "vsphere", For: release(t, "4.20"), Old: old})
	if err != nil {
		t.Fatal(err)
	}
	u := folder.Compare(cat, old)
	var out strings.Builder
	for _, c := range u.Changes {
		fmt.Fprintf(&out, "%s\n- %s\n+ %s\n  %s\n", c.Where, c.From, c.To, c.Why)
	}
	for _, k := range u.Kept {
		fmt.Fprintf(&out, "%s\n= %s\n  %s\n", k.Where, k.What, k.Why)
	}
	fmt.Fprintf(&out, "delete: %s %s\n", u.Delete, u.DeleteWhy)
	golden(t, "upgrade-vsphere.txt", []byte(out.String()))
}

// TestDeleteFirst: what oc replace couldn't turn into the new DaemonSet.
func TestDeleteFirst(t *testing.T) {
	cat := load(t)
	folder, err := csidriver.Render(cat, csidriver.Options{Driver: "vsphere", For: release(t, "4.20")})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(*appsv1.DaemonSet)
		why    string
	}{
		"its own manifest":      {func(*appsv1.DaemonSet) {}, ""},
		"another name":          {func(d *appsv1.DaemonSet) { d.Name = "own" }, "can't both register"},
		"another namespace":     {func(d *appsv1.DaemonSet) { d.Namespace = "own" }, "can't both register"},
		"no namespace named":    {func(d *appsv1.DaemonSet) { d.Namespace = "" }, ""},
		"another selector":      {func(d *appsv1.DaemonSet) { d.Spec.Selector.MatchLabels = map[string]string{"a": "b"} }, "selector"},
		"of a cluster, created": {func(d *appsv1.DaemonSet) { d.UID = "1" }, ""},
	} {
		ds := daemonSet(t, folder)
		tc.change(ds)
		u := folder.Compare(cat, &csidriver.Old{Driver: "vsphere", DaemonSet: ds})
		if (u.Delete != "") != (tc.why != "") || !strings.Contains(u.DeleteWhy, tc.why) {
			t.Errorf("%s: %q, %q", name, u.Delete, u.DeleteWhy)
		}
	}
}
