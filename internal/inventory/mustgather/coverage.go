package mustgather

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

// WMCO keeps what services a node has in a ConfigMap of this name and its own
// version: https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/servicescm/servicescm.go
const (
	servicesPrefix    = "windows-services-"
	operatorNamespace = "openshift-windows-machine-config-operator"
)

// cutShort notes that the archive ended early.
func (r *reader) cutShort(cut *cutError) {
	r.cut = true
	r.c.Problem(inventory.Problem{
		Where: r.top, What: cut.Error() + "; what stood before it was read",
		Fix: "copy the archive again from where it is whole, and compare: sha256sum " + r.top,
	})
}

// tellCoverage says of each resource how much of it was seen.
func (r *reader) tellCoverage() {
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		if k.resource == "" {
			continue
		}
		t := r.tallies[name]
		reason := r.lacks(name, k)
		r.c.Cover(k.resource, inventory.Coverage{Complete: reason == "", Count: t.count, Reason: reason})
	}
	r.tellMissing()
}

// lacks is why not all of a resource was seen; "" when it was.
func (r *reader) lacks(name string, k kind) string {
	t := r.tallies[name]
	switch {
	case r.cut:
		return "the archive ends early"
	case t.broken > 0:
		return fmt.Sprintf("%d files or objects couldn't be read", t.broken)
	case k.resource == inventory.Services:
		return r.lacksServices(t)
	case k.namespaced:
		return r.lacksNamespaces(name)
	case k.resource == inventory.Nodes:
		return r.lacksNodes(t)
	case t.count == 0 && !(k.resource == inventory.Volumes && r.listedStorage()):
		return "no " + clusterFolder + "/" + name + " in this must-gather"
	}
	return ""
}

// listedStorage tells whether PersistentVolumes were asked for: the script of
// openshift/must-gather lists them and CSINodes in one command, and writes
// nothing where there are none.
// https://github.com/openshift/must-gather/blob/main/collection-scripts/gather
func (r *reader) listedStorage() bool {
	return r.standard && len(r.csiNodes) > 0
}

// lacksNodes misses nodes that have a CSINode: the kubelet makes one for each.
func (r *reader) lacksNodes(t *tally) string {
	if t.count == 0 {
		return "no " + clusterFolder + "/core/nodes in this must-gather"
	}
	var missing []string
	for name := range r.csiNodes {
		if !r.nodes[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return "nodes that have a CSINode weren't gathered: " + some(missing)
	}
	return ""
}

func (r *reader) lacksServices(t *tally) string {
	if n := r.namespaces[operatorNamespace]; t.count > 0 || n != nil && n.has("core/configmaps") {
		return ""
	}
	return "namespace " + operatorNamespace + " wasn't gathered"
}

// lacksNamespaces misses namespaces that are known and weren't gathered. With
// no PersistentVolumes there is nothing to know the others by.
func (r *reader) lacksNamespaces(name string) string {
	if missing := r.missing(name); len(missing) > 0 {
		return fmt.Sprintf("%s of namespaces that weren't gathered: %s", strings.TrimPrefix(name, "core/"), some(missing))
	}
	if reason := r.lacks("core/persistentvolumes", kinds["core/persistentvolumes"]); reason != "" {
		return "which namespaces there are isn't known: " + reason
	}
	return ""
}

func (n *namespace) has(resource string) bool { return n.inspected || n.lists[resource] }

func (r *reader) missing(resource string) []string {
	var missing []string
	for name, n := range r.namespaces {
		if !n.has(resource) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

// tellMissing says how to gather the namespaces whose pods aren't there.
func (r *reader) tellMissing() {
	missing := r.missing("core/pods")
	if len(missing) == 0 || r.cut {
		return
	}
	r.c.Problem(inventory.Problem{
		Where: namespaceFolder, What: fmt.Sprintf("pods of %d namespaces weren't gathered: %s", len(missing), some(missing)),
		Fix: "oc adm inspect --overwrite --dest-dir=" + r.root() + " ns/" + strings.Join(missing, " ns/"),
	})
}

// root is the folder that oc can add to; of an archive, the one inside.
func (r *reader) root() string {
	if r.archive() {
		return cmp.Or(r.first, "must-gather")
	}
	return filepath.Join(r.top, filepath.FromSlash(r.first))
}

// some lists the first names.
func some(names []string) string {
	const most = 5
	slices.Sort(names)
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// tellProxies hands on what csi-proxy says of its version: for the node that
// is named in front of the line, or for none.
func (r *reader) tellProxies() {
	for _, f := range r.logs {
		for _, l := range f.lines {
			at := inventory.Evidence{Where: fmt.Sprintf("%s:%d", f.name, l.line), Text: l.text}
			r.c.CSIProxyLog(l.node, l.text, at)
		}
	}
}
