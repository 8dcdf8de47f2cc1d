package mustgather

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// runs tells one must-gather from several. One run may have several roots: an
// image each, a node each, and what other teams' images put below their own.
type runs struct {
	top   string
	named map[string]bool // by folder; true: its name says that it is a run
	times map[string]string
}

// runOf is the folder of the run that a root belongs to: must-gather.local.*
// and inspect.local.* by their names, else the parent of an image's folder,
// which oc names by its digest.
func runOf(root string) (folder string, named bool) {
	parts := strings.Split(root, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "must-gather.local.") || strings.HasPrefix(part, "inspect.local.") {
			return strings.Join(parts[:i+1], "/"), true
		}
	}
	for i, part := range parts {
		if strings.Contains(part, "-sha256-") {
			return strings.Join(parts[:i], "/"), true
		}
	}
	return root, false
}

// add notes a root and tells whether all so far are of one run.
func (r *runs) add(root string) bool {
	folder, named := runOf(root)
	if _, known := r.named[folder]; !known {
		r.named[folder] = named
	}
	return len(r.folders()) == 1
}

// folders are the runs. An unnamed one below another is a part of it: some
// images have folders of their own with namespaces in them.
func (r *runs) folders() []string {
	var all []string
	for _, folder := range slices.Sorted(maps.Keys(r.named)) {
		part := !r.named[folder] && slices.ContainsFunc(all, func(above string) bool {
			return above == "" || strings.HasPrefix(folder, above+"/")
		})
		if !part {
			all = append(all, folder)
		}
	}
	return all
}

// time notes the last line of a file timestamp, which is the end of the run.
func (r *runs) time(folder string, src io.Reader) error {
	s := bufio.NewScanner(io.LimitReader(src, 64<<10))
	last := ""
	for s.Scan() {
		last = cmp.Or(strings.TrimSpace(s.Text()), last)
	}
	r.times[folder] = last[:min(len(last), len("2006-01-02 15:04:05"))]
	if err := s.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return err
	}
	return nil
}

// fault refuses several runs. The newest isn't taken unasked: the other may be
// of another cluster, and half an answer from each is none.
func (r *runs) fault(archive bool) error {
	all := r.folders()
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(r.times[b], r.times[a]) })
	var lines []string
	for _, folder := range all {
		lines = append(lines, strings.TrimRight(cmp.Or(folder, ".")+"  "+r.times[folder], " "))
	}
	fix := "give one of them: --must-gather " + filepath.Join(r.top, filepath.FromSlash(all[0]))
	if archive {
		fix = "unpack it and give one of them: tar -xf " + shell.Word(r.top) + " && verify skew --must-gather " + shell.Word(path.Clean(all[0]))
	}
	return &fault.Error{
		What: fmt.Sprintf("holds %d must-gathers, which may be of other clusters or days", len(all)), Where: r.top,
		Excerpt: strings.Join(lines, "\n"), Fix: fix,
	}
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
