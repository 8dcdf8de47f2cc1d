package mustgather

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/shell"
)

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
	folder, everywhere := filepath.Join(r.root(), clusterFolder, group), ""
	if kinds[name].namespaced {
		everywhere = " --all-namespaces"
	}
	list := "oc get " + api + everywhere + " -o yaml > " + shell.Path(filepath.Join(folder, plural+".yaml"))
	if !slices.Contains(r.groups, group) {
		list = "mkdir -p " + shell.Word(folder) + " && " + list
	}
	return &inventory.Gather{First: r.unpack(), List: list}
}

// inspect is oc's command for resources; it adds to a folder that is there:
// https://github.com/openshift/oc/blob/master/pkg/cli/admin/inspect/inspect.go
func (r *reader) inspect(what ...string) *inventory.Gather {
	return &inventory.Gather{First: r.unpack(), Inspect: what, Into: shell.Word(r.root())}
}

// unpack is what comes before anything can be added to an archive.
func (r *reader) unpack() string {
	if !r.archive() {
		return ""
	}
	return "tar -xf " + shell.Word(r.top)
}

// root is the folder that oc can add to; of an archive, the one inside. What
// were next to it would count for a must-gather of its own.
func (r *reader) root() string {
	if r.archive() {
		return cmp.Or(r.first, ".")
	}
	return path.Join(filepath.ToSlash(r.top), r.first)
}
