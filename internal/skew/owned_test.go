package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// No command changes a DaemonSet that a program would put back: the plan names
// the source to change.
func TestOwnersAreAsked(t *testing.T) {
	argo := inventory.Owner{Manager: "Argo CD", Kind: "Application", Name: "storage"}
	for _, tc := range []struct {
		name  string
		owner []inventory.Owner
		byOC  bool
	}{
		{name: "nobody's", byOC: true},
		{name: "Argo CD's", owner: []inventory.Owner{argo}},
		{name: "Helm's", owner: []inventory.Owner{{Manager: "Helm", Kind: "release", Namespace: "csi", Name: "windows"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inv := clusterOf("4.18", "10.18.0", ebs("v1.32.0"))
			for i := range inv.Drivers {
				if inv.Drivers[i].OS == "windows" {
					inv.Drivers[i].Owners = tc.owner
				}
			}
			r, err := skew.Evaluate(testCatalog(t), inv, skew.Request{From: "4.18", To: "4.19"})
			if err != nil {
				t.Fatal(err)
			}
			byOC, asked := false, false
			for _, s := range r.Steps {
				for _, a := range s.Actions {
					changes := strings.Join(a.Commands, "\n")
					byOC = byOC || strings.Contains(changes, "set image") || strings.Contains(changes, "oc replace")
					asked = asked || a.Kind == "by-owner" && strings.Contains(a.Summary, "in the source of "+first(tc.owner)) && a.Judge != ""
				}
			}
			if byOC != tc.byOC || asked == tc.byOC {
				t.Errorf("oc changes it: %t, its owner is asked: %t\n%+v", byOC, asked, r.Steps)
			}
		})
	}
}

// What an owner's source is to hold, the plan still makes: a manifest by bake.
func TestOwnersGetTheManifest(t *testing.T) {
	for _, owner := range []inventory.Owner{{Manager: "Argo CD", Kind: "Application", Name: "storage"}, {Manager: "StorageDriver", Kind: "StorageDriver", Name: "windows"}} {
		inv := storageCluster("4.19", "10.19.1")
		onWindows(func(d *inventory.Driver) { d.Owners = []inventory.Owner{owner} })(inv)
		made := ""
		for _, s := range evaluate(t, inv, skew.Request{To: "4.20"}).Steps {
			for _, a := range s.Actions {
				if a.Kind == "by-owner" {
					made += strings.Join(a.Commands, "\n")
				}
				if strings.Contains(a.Summary, "StorageDriver StorageDriver") {
					t.Errorf("it names the owner twice: %s", a.Summary)
				}
			}
		}
		if !strings.Contains(made, "\nbake manifests csi-driver --upgrade-from ") || strings.Contains(made, "\noc ") {
			t.Errorf("%s makes\n%s", owner.Manager, made)
		}
	}
}

func first(owners []inventory.Owner) string {
	if len(owners) == 0 {
		return ""
	}
	return owners[0].Manager + " " + owners[0].Kind
}
