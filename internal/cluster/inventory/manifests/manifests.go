// Package manifests reads Kubernetes manifests from files, folders and standard
// input into an inventory: several documents in a file, Lists, JSON, the output of
// helm and kustomize.
//
// It renders nothing: a template that was left as it is, and a folder that kustomize
// builds, become a problem that names the command to render it with. Evidence is
// the line that an object starts at. What no rule needs isn't decoded.
package manifests

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

type reader struct {
	c     *kube.Collector
	stdin io.Reader
	seen  map[string]bool // files and folders, by real path
	files int
	// documents counts those with something in them, objects what Kubernetes
	// takes for an object, others what isn't one: values.yaml, Chart.yaml.
	documents, objects, others int
	// first is the first problem; broken counts what couldn't be read.
	first  *inventory.Problem
	broken int
	inFile int // problems of the file at hand
	// empty are the kinds of typed Lists without an item, in lower case and as plural:
	// there are none.
	empty map[inventory.Resource]bool
	// inList: a List is being read. listed: DaemonSets came in one, as oc get has all of
	// a cluster; what an operator brings is then among them. operators tell of it where
	// they didn't.
	inList, listed bool
	operators      []func()
	// template: one was met in the file at hand. They are all the same.
	template bool
	// kustomizations counts folders that kustomize builds.
	kustomizations int
}

// Read reads manifests from files, folders (*.yaml, *.yml and *.json, all the
// way down) and, for "-", from stdin. What can't be read among other things
// becomes a problem in c, with file:line:column; a path that isn't there, or
// input in which nothing could be read at all, is an error. Once ctx is done,
// Read returns its error.
func Read(ctx context.Context, c *kube.Collector, paths []string, stdin io.Reader) (inventory.Source, error) {
	c.CountTemplates()
	c.CompareCopies()
	r := &reader{c: c, stdin: stdin, seen: map[string]bool{}, empty: map[inventory.Resource]bool{}}
	for _, path := range paths {
		if err := r.path(ctx, path); err != nil {
			return inventory.Source{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return inventory.Source{}, err
	}
	if !r.listed {
		for _, tell := range r.operators {
			tell()
		}
	}
	if r.objects+r.kustomizations == 0 {
		return inventory.Source{}, r.nothing(paths)
	}
	r.cover()
	return inventory.Source{Kind: "manifests", Name: name(paths), Detail: r.detail()}, nil
}

func name(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
	}
	return strings.Join(paths, ", ")
}

func (r *reader) detail() string {
	text := fmt.Sprintf("%s, %s", inventory.Many(r.files, "file"), inventory.Many(r.documents, "document"))
	if r.others > 0 {
		text += fmt.Sprintf(", %s no Kubernetes objects", inventory.Thousands(r.others))
	}
	if r.broken > 0 {
		text += ", " + inventory.Many(r.broken, "problem")
	}
	return text
}

func (r *reader) nothing(paths []string) error {
	if r.first != nil {
		e := &fault.Error{What: r.first.What, Where: r.first.Where, Fix: strings.TrimSuffix(r.first.Fix+": "+r.first.Command, ": ")}
		if r.broken > 1 {
			e.What += fmt.Sprintf("; and %s more, with nothing that could be read", inventory.Many(r.broken-1, "problem"))
		}
		return e
	}
	return &fault.Error{
		What:  fmt.Sprintf("no Kubernetes objects in %s, %s", inventory.Many(r.files, "file"), inventory.Many(r.documents, "document")),
		Where: name(paths),
		Fix:   "give files or folders of *.yaml, *.yml or *.json, or - for standard input",
	}
}

// most bounds the problems of one file that are told one by one: a file of
// another kind may have thousands of "documents".
const most = 20

func (r *reader) problem(p inventory.Problem) {
	if r.first == nil {
		r.first = &p
	}
	r.broken++
	r.tell(p)
}

func (r *reader) tell(p inventory.Problem) {
	if r.inFile++; r.inFile <= most {
		r.c.Problem(p)
	}
}

// refuse notes an error of a document, or of one object of it.
func (r *reader) refuse(d *document, err error) {
	p, isTemplate := d.problem(err)
	if isTemplate && r.template {
		return
	}
	r.template = r.template || isTemplate
	r.problem(p)
}

// endFile counts the problems of a file that weren't told.
func (r *reader) endFile(name string) {
	if r.inFile > most {
		r.c.Problem(inventory.Problem{Where: name, What: "there are " + inventory.Many(r.inFile-most, "more problem") + " in this file"})
	}
	r.inFile, r.template = 0, false
}

// resources are those that manifests can hold. What only a cluster has, such as
// its ClusterVersion, is read where it is, and missed by nobody in Git.
var resources = []inventory.Resource{
	inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods, inventory.Volumes, inventory.Claims,
	inventory.ClusterVersion, inventory.Services,
}

// extras are told of only where there are some: few checks need them. That there
// are no other Namespaces than those that are in manifests nobody can say.
var extras = []inventory.Resource{inventory.Pools, inventory.CSIDrivers, inventory.AdminGates, inventory.AdminAcks}

// cover says how much there is of each resource. What is there counts for
// all there is, but for Nodes that other objects name. What isn't there may be
// anywhere, unless a typed List says that there is none; and so may what was in a
// file that couldn't be read.
func (r *reader) cover() {
	for _, resource := range slices.Concat(resources, extras) {
		var cov inventory.Coverage
		if resource == inventory.Pods {
			cov.Count = r.c.Workloads()
		}
		switch none := cov.Count+r.c.Count(resource) == 0; {
		case none && slices.Contains(extras, resource):
			continue
		case none && !r.empty[resource]:
			cov.Reason = "not in these manifests"
		case r.broken > 0:
			cov.Reason, cov.Told = fmt.Sprintf("%s couldn't be read", inventory.Many(r.broken, "input")), true
		case resource == inventory.Nodes && len(r.c.UnreadNodes()) > 0:
			cov.Reason = "nodes that CSINodes or pods name aren't in these manifests: " + inventory.Some(r.c.UnreadNodes())
		}
		r.c.Cover(resource, cov)
	}
}
