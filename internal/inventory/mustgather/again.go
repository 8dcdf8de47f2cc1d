package mustgather

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/shell"
)

// howToGather is the command that adds a cluster-scoped resource. Of those that
// a cluster may have none of, and of namespaces, which oc adm inspect would
// gather whole, it is a list: that says that there are no others.
func (r *reader) howToGather(name string) string {
	group, plural, _ := strings.Cut(name, "/")
	if plural == "namespaces" || plural == "persistentvolumes" {
		list := filepath.Join(r.root(), clusterFolder, group, plural+".yaml")
		return r.unpack() + "oc get " + plural + " -o yaml > " + shell.Word(list)
	}
	if group != "core" {
		plural += "." + group
	}
	return r.inspect(plural)
}

// inspect is oc's command for resources; it adds to a folder that is there:
// https://github.com/openshift/oc/blob/master/pkg/cli/admin/inspect/inspect.go
func (r *reader) inspect(what string) string {
	return r.unpack() + "oc adm inspect " + what + " --dest-dir=" + shell.Word(r.root())
}

// unpack is what comes before anything can be added to an archive.
func (r *reader) unpack() string {
	if !r.archive() {
		return ""
	}
	return "tar -xf " + shell.Word(r.top) + "\n"
}

// root is the folder that oc can add to; of an archive, the one inside. What
// stood beside it would count for a must-gather of its own.
func (r *reader) root() string {
	if r.archive() {
		return cmp.Or(r.first, ".")
	}
	return path.Join(filepath.ToSlash(r.top), r.first)
}
