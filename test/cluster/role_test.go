package cluster_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/test/cluster/apiserver"
)

const roleFile = "../../internal/cluster/inventory/cluster/clusterrole.yaml"

// documented are the rights of verify skew role.
func documented(t *testing.T) apiserver.Rights {
	t.Helper()
	src, err := os.ReadFile(roleFile)
	if err != nil {
		t.Fatal(err)
	}
	rights, err := apiserver.ParseRights(src)
	if err != nil {
		t.Fatalf("%s: %v", roleFile, err)
	}
	if len(rights.Cluster) == 0 || len(rights.Namespaced) == 0 {
		t.Fatalf("no rules in %s", roleFile)
	}
	return rights
}

// unknown is what isn't known without a right: Resources, or else where the
// Problem is.
var unknown = map[string]string{
	"list daemonsets":              "daemonsets",
	"list nodes":                   "nodes",
	"list csinodes":                "csinodes",
	"list pods":                    "pods",
	"list persistentvolumes":       "persistentvolumes",
	"list persistentvolumeclaims":  "persistentvolumeclaims",
	"list storageclasses":          "storageclasses.storage.k8s.io",
	"list namespaces":              "namespaces",
	"list runtimeclasses":          "DaemonSet openshift-cluster-csi-drivers/csi-smb-node-win spec.template.spec.runtimeClassName",
	"list clustercsidrivers":       "clustercsidrivers",
	"list machineconfigpools":      "machineconfigpools",
	"get clusterversions/version":  "clusterversions",
	"get infrastructures/cluster":  "infrastructures.config.openshift.io/cluster",
	"get clusterserviceversions":   "clusterserviceversions.operators.coreos.com",
	"list clusterserviceversions":  "clusterserviceversions.operators.coreos.com",
	"get configmaps/admin-gates":   "admin-gates",
	"get configmaps/admin-acks":    "admin-acks",
	"get /version":                 "/version",
	"list configmaps in-namespace": "windows-services",
}

// testRole takes each right away in turn.
func testRole(t *testing.T, s *apiserver.Server) {
	s.Load(t, roleFile)
	s.HideVersion(t)
	all := documented(t)
	whole := read(t, cluster.Options{Config: s.Config})
	t.Run("all", func(t *testing.T) {
		inv := read(t, cluster.Options{Config: s.User(t, "all", all)})
		if got, want := plain(t, inv), plain(t, whole); got != want {
			t.Errorf("with the role:\n%s\nas administrator:\n%s", got, want)
		}
		for r, cov := range inv.Read {
			if !cov.Complete {
				t.Errorf("%s: %+v", r, cov)
			}
		}
		if len(inv.Read) != 13 || len(inv.Problems) > 0 {
			t.Errorf("%d resources were read, with problems %+v", len(inv.Read), inv.Problems)
		}
	})
	// Nobody who may read nothing is told that there is nothing.
	t.Run("none", func(t *testing.T) {
		inv := read(t, cluster.Options{Config: s.User(t, "nobody", apiserver.Rights{})})
		if len(inv.Read) != 13 {
			t.Errorf("%+v", inv.Read)
		}
		for r, cov := range inv.Read {
			if cov.Complete || cov.Count > 0 || !strings.HasPrefix(cov.Reason, "forbidden: ") {
				t.Errorf("%s: %+v", r, cov)
			}
		}
	})
	t.Run("asks as the user who lacks it", func(t *testing.T) {
		config := rest.CopyConfig(s.Config)
		config.Impersonate.UserName = "ann"
		inv := read(t, cluster.Options{Config: config, Context: "prod"})
		const want = "kubectl --context prod --as ann auth can-i list storageclasses.storage.k8s.io --all-namespaces"
		if !slices.ContainsFunc(inv.Problems, func(p inventory.Problem) bool { return p.Command == want }) {
			t.Errorf("%+v", inv.Problems)
		}
	})
	for i, gone := range all.Each() {
		t.Run("no "+gone.String(), func(t *testing.T) {
			inv := read(t, cluster.Options{Config: s.User(t, fmt.Sprintf("without-%d", i), all.Without(gone))})
			want, ok := unknown[gone.String()]
			if !ok {
				t.Fatalf("which right is %s?", gone)
			}
			if got := missing(inv); !slices.Equal(got, []string{want}) {
				t.Errorf("%q is missing, not %s: %+v %+v", got, want, inv.Read, inv.Problems)
			}
		})
	}
}

// missing lists the resources and objects that an inventory says it lacks for
// being forbidden.
func missing(inv *inventory.Inventory) []string {
	var out []string
	for r, cov := range inv.Read {
		if !cov.Complete && strings.HasPrefix(cov.Reason, "forbidden: ") {
			out = append(out, string(r))
		} else if !cov.Complete {
			out = append(out, fmt.Sprintf("%s (%s)", r, cov.Reason))
		}
	}
	for _, p := range inv.Problems {
		if strings.HasSuffix(p.Where, "runtimeClassName") {
			out = append(out, p.Where)
			continue
		}
		if strings.HasPrefix(p.What, "forbidden: ") && strings.Contains(p.Command, "auth can-i ") && strings.Contains(p.Fix, "verify skew role") {
			out = append(out, p.Where)
		} else {
			out = append(out, p.Where+" ("+p.What+")")
		}
	}
	slices.Sort(out)
	return out
}
