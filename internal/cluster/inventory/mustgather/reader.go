package mustgather

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// again fixes a file that can't be read.
const again = "gather it again, or copy it again from where it is whole"

type namespace struct {
	// inspected: `oc adm inspect ns/...` went through it.
	inspected bool
	// lists are the resources of which there is a file with all of them.
	lists map[string]bool
}

type reader struct {
	c   *kube.Collector
	top string
	// roots are the folders with objects, in the order that they were met. Evidence
	// leaves out the first.
	roots []string
	// gatheredAt is when the must-gather ended, as it says itself; "" unknown.
	gatheredAt string
	// standard: the script of openshift/must-gather gathered.
	standard bool
	files    int
	objects  int
	seen     map[string]bool
	broken   map[string]int // by resource: files or objects that couldn't be read
	csiNodes map[string]bool
	// listed are the cluster-scoped resources of which there is a file with all.
	listed map[string]bool
	// groups are the API groups that cluster-scoped-resources has a folder of.
	groups []string
	// namespaces are those that anything mentions.
	namespaces map[string]*namespace
}

func newReader(c *kube.Collector, top string) *reader {
	return &reader{
		c: c, top: top, seen: map[string]bool{}, broken: map[string]int{},
		csiNodes: map[string]bool{}, listed: map[string]bool{}, namespaces: map[string]*namespace{},
	}
}

func (r *reader) enter(p place) {
	if !slices.Contains(r.roots, p.root) {
		r.roots = append(r.roots, p.root)
	}
	if p.namespace != "" {
		r.namespace(p.namespace)
	} else if group, _, ok := strings.Cut(p.resource, "/"); ok && !slices.Contains(r.groups, group) {
		r.groups = append(r.groups, group)
	}
}

func (r *reader) namespace(name string) *namespace {
	n, ok := r.namespaces[name]
	if !ok {
		n = &namespace{lists: map[string]bool{}}
		r.namespaces[name] = n
	}
	return n
}

// unlisted notes a folder that can't be listed: anything may be in it.
func (r *reader) unlisted(name string, err error) {
	for resource := range kinds {
		r.broken[resource]++
	}
	r.c.Problem(inventory.Problem{
		Where: name, What: "can't be listed: " + infile.Cause(err),
		Fix: "let this user read it", Command: "ls -ld " + shell.Word(filepath.Join(r.top, name)),
	})
}

func (r *reader) problem(resource, where, what, fix string) {
	r.broken[resource]++
	r.c.Problem(inventory.Problem{Where: where, What: what, Fix: fix})
}

// inside is a name as evidence gives it: below the first root.
func (r *reader) inside(name string) string {
	if first := r.firstRoot(); first != "" {
		return strings.TrimPrefix(name, first+"/")
	}
	return name
}

func (r *reader) firstRoot() string {
	if len(r.roots) == 0 {
		return ""
	}
	return r.roots[0]
}

// readTime takes the last line of a run's file timestamp, which is its end.
func (r *reader) readTime(file string, p place) error {
	if folder, _ := runOf(p.root); folder != p.root {
		return nil
	}
	src, err := infile.Read(file, infile.Text)
	if lines := strings.Split(strings.TrimSpace(string(src)), "\n"); err == nil {
		last := lines[len(lines)-1]
		r.gatheredAt = last[:min(len(last), len("2006-01-02 15:04:05"))]
	}
	return err
}

// readScript takes the first line of a root's file version.
func (r *reader) readScript(file string) error {
	src, err := infile.Read(file, infile.Text)
	line, _, _ := bytes.Cut(src, []byte("\n"))
	r.standard = r.standard || string(bytes.TrimSpace(line)) == "openshift/must-gather"
	return err
}
