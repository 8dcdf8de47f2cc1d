package mustgather

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

func (r *reader) tellCoverage() {
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if k := kinds[name]; k.resource != "" {
			r.c.Cover(k.resource, r.lacks(name, k))
		}
	}
	for _, m := range []configMap{{inventory.AdminGates, "openshift-config-managed", "admin-gates"}, {inventory.AdminAcks, "openshift-config", "admin-acks"}} {
		r.c.Cover(m.resource, r.lacksConfigMap(m))
	}
}

type configMap struct {
	resource        inventory.Resource
	namespace, name string
}

// lacks is why not all of a resource was seen; no reason when it was.
func (r *reader) lacks(name string, k kind) inventory.Coverage {
	none := r.c.Count(k.resource) == 0
	switch {
	case r.broken[name] > 0:
		return inventory.Coverage{Reason: inventory.Many(r.broken[name], "file or object") + " couldn't be read", Told: true}
	case k.resource == inventory.Services:
		return r.lacksServices()
	case k.resource == inventory.Namespaces && !r.listed[name]:
		return lackOf(unlistedSpaces, r.howToGather(name))
	case k.namespaced:
		return r.lacksNamespaces(name)
	case k.resource == inventory.Nodes && !none:
		return r.lacksNodes()
	case none && !r.listed[name] && !(k.resource == inventory.Volumes && r.listedStorage()):
		return lackOf("no "+clusterFolder+"/"+name+" in this must-gather", r.howToGather(name))
	}
	return inventory.Coverage{}
}

// listedStorage tells whether PersistentVolumes were asked for: the script of
// openshift/must-gather lists them and CSINodes in one command, and writes
// nothing where there are none.
// https://github.com/openshift/must-gather/blob/main/collection-scripts/gather
func (r *reader) listedStorage() bool {
	return r.standard && len(r.csiNodes) > 0
}

// lacksNodes misses nodes that CSINodes or pods name.
func (r *reader) lacksNodes() inventory.Coverage {
	missing := r.c.UnreadNodes()
	if len(missing) == 0 {
		return inventory.Coverage{}
	}
	return lackOf("nodes that CSINodes or pods name weren't gathered: "+inventory.Some(missing), r.howToGather("core/nodes"))
}

func (r *reader) lacksServices() inventory.Coverage {
	if n := r.namespaces[kube.OperatorNamespace]; r.c.Count(inventory.Services) > 0 || n != nil && n.has("core/configmaps") {
		return inventory.Coverage{}
	}
	return lackOf("namespace "+kube.OperatorNamespace+" wasn't gathered", r.inspect("ns/"+kube.OperatorNamespace))
}

func (r *reader) lacksConfigMap(m configMap) inventory.Coverage {
	if n := r.namespaces[m.namespace]; r.c.Count(m.resource) > 0 || n != nil && n.has("core/configmaps") {
		return inventory.Coverage{}
	}
	how := r.inspect("configmap/" + m.name)
	how.In = m.namespace
	return lackOf("no ConfigMaps of namespace "+m.namespace+" in this must-gather", how)
}

// unlistedSpaces is why nothing can be said of all namespaces.
const unlistedSpaces = "which namespaces the cluster has isn't in this must-gather"

// lacksNamespaces misses namespaces that weren't gathered. The script of
// openshift/must-gather takes those of OpenShift's own operators; of the others
// it tells the few that have a volume or a lease, so a list must say which
// there are.
func (r *reader) lacksNamespaces(name string) inventory.Coverage {
	missing := r.missing(name)
	switch {
	case r.listed[name]: // of all namespaces
	case !r.listed["core/namespaces"] || r.broken["core/namespaces"] > 0:
		cov := lackOf("", r.howToGather(name))
		switch {
		case len(missing) > 0:
			cov.Reason = unlistedSpaces + "; of those that it mentions these weren't gathered: " + inventory.Some(missing)
		case !r.mentionsNamespaces() || r.broken["core/namespaces"] > 0 || r.c.Count(kinds[name].resource) == 0:
			cov.Reason = unlistedSpaces
		default:
			cov.Doubt = unlistedSpaces
		}
		return cov
	case len(missing) > 0:
		var spaces []string
		for _, ns := range missing {
			spaces = append(spaces, "ns/"+ns)
		}
		return lackOf("namespaces that weren't gathered: "+inventory.Some(missing), r.inspect(spaces...))
	}
	return inventory.Coverage{}
}

// mentionsNamespaces tells whether what holds for the whole cluster was gathered:
// PersistentVolumes, which name their claims' namespaces, and CSINodes, which
// name drivers that a DaemonSet must run somewhere.
func (r *reader) mentionsNamespaces() bool {
	volumes := r.c.Count(inventory.Volumes) > 0 || r.listed["core/persistentvolumes"] || r.listedStorage()
	return volumes && len(r.csiNodes) > 0
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

// lackOf is a resource of which a reason says what is missing, with what adds it.
func lackOf(reason string, how *inventory.Gather) inventory.Coverage {
	return inventory.Coverage{Reason: reason, Gather: how, Fix: strings.Join(inventory.GatherLines([]*inventory.Gather{how}), "\n")}
}

// howToGather is what adds a resource. Of those that a cluster may have none of, and
// of those that are in namespaces nobody may have gathered, it is a list: that says
// that there are no others. oc adm inspect would take namespaces with all logs of
// their pods.
func (r *reader) howToGather(name string) *inventory.Gather {
	group, plural, _ := strings.Cut(name, "/")
	api := plural
	if group != "core" {
		api += "." + group
	}
	if !kinds[name].namespaced && plural != "namespaces" && plural != "persistentvolumes" {
		return r.inspect(api)
	}
	folder, everywhere := path.Join(r.root(), clusterFolder, group), ""
	if kinds[name].namespaced {
		everywhere = " --all-namespaces"
	}
	list := "oc get " + api + everywhere + " -o yaml > " + shell.Path(path.Join(folder, plural+".yaml"))
	if !slices.Contains(r.groups, group) {
		list = "mkdir -p " + shell.Word(folder) + " && " + list
	}
	return &inventory.Gather{List: list}
}

// inspect is oc's command for resources; it adds to a folder that is there:
// https://github.com/openshift/oc/blob/master/pkg/cli/admin/inspect/inspect.go
func (r *reader) inspect(what ...string) *inventory.Gather {
	return &inventory.Gather{Inspect: what, Into: shell.Word(r.root())}
}

// root is the folder that oc can add to. What were next to it would count for a
// must-gather of its own.
func (r *reader) root() string { return path.Join(filepath.ToSlash(r.top), r.firstRoot()) }
