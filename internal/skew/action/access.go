package action

import (
	"slices"

	"github.com/winbake/winbake/internal/inventory"
)

// SetPodSecurity lets privileged pods into a namespace.
type SetPodSecurity struct {
	Namespace string
	// Was are its labels now; nil where they weren't read.
	Was *inventory.Namespace
}

const (
	enforce = "pod-security.kubernetes.io/enforce"
	// labelSync is OpenShift's: without it the level follows the SCCs.
	labelSync = "security.openshift.io/scc.podSecurityLabelSync"
)

func (a SetPodSecurity) write(r *record) {
	r.say("set-pod-security", "let namespace %s run privileged pods", a.Namespace)
	r.Object = "Namespace " + a.Namespace
	r.run("oc", "label", "namespace", a.Namespace, enforce+"=privileged", labelSync+"=false", "--overwrite")
	r.Done = r.is("privileged", "oc", "get", "namespace", a.Namespace, "-o", `jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`)
	if a.Was == nil {
		r.NoUndo = "the namespace's labels before weren't read"
		return
	}
	was := func(key, value string) string {
		if value == "" {
			return key + "-"
		}
		return key + "=" + value
	}
	r.undo("oc", "label", "namespace", a.Namespace, was(enforce, a.Was.Enforce), was(labelSync, a.Was.Sync), "--overwrite")
}

// Apply notes the level.
func (a SetPodSecurity) Apply(inv *inventory.Inventory) {
	c := &inv.Cluster
	c.Namespaces = slices.Clone(c.Namespaces)
	n := c.Namespace(a.Namespace)
	if n == nil {
		c.Namespaces = append(c.Namespaces, inventory.Namespace{Name: a.Namespace})
		n = c.Namespace(a.Namespace)
	}
	n.Enforce, n.Sync = "privileged", "false"
}

// BindSCC lets a service account use the SCC privileged.
type BindSCC struct {
	nothing
	Namespace, Account string
}

func (a BindSCC) write(r *record) {
	r.say("bind-scc", "let service account %s/%s use the SCC privileged", a.Namespace, a.Account)
	r.Object = "ServiceAccount " + a.Namespace + "/" + a.Account
	r.run("oc", "-n", a.Namespace, "adm", "policy", "add-scc-to-user", "privileged", "-z", a.Account)
	r.done("oc", "-n", a.Namespace, "get", "rolebinding", "system:openshift:scc:privileged", "-o", "jsonpath={.subjects[*].name}", raw("| grep -qw --"), a.Account)
	r.undo("oc", "-n", a.Namespace, "adm", "policy", "remove-scc-from-user", "privileged", "-z", a.Account)
}
