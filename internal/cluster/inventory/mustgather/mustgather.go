// Package mustgather reads a cluster's inventory from the folder that `oc adm
// must-gather` or `oc adm inspect` wrote.
//
// It knows the paths of a must-gather and what they do and don't prove; what
// the objects mean, package kube knows. It doesn't gather, unpack or follow links.
//
// A must-gather holds only some namespaces, so what isn't in it isn't absent
// from the cluster. Coverage says of each resource whether all of it was
// seen, and what adds the rest. Folders and the claims of PersistentVolumes
// name some of the cluster's namespaces; that there are no others only a list
// tells, cluster-scoped-resources/core/namespaces.yaml, which no must-gather
// has by itself.
//
// Several must-gathers in one folder are refused: half an answer from each of two
// days is none. Several images of one run are one must-gather.
package mustgather

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// Read adds what the must-gather in the folder top holds to c. Every file is read at
// most once.
//
// A file that can't be read becomes a Problem and incomplete coverage. What is no
// must-gather, or several, is a *fault.Error.
func Read(ctx context.Context, c *kube.Collector, top string) (inventory.Source, error) {
	c.CountTemplates()
	if err := checkFolder(top); err != nil {
		return inventory.Source{}, err
	}
	r := newReader(c, top)
	if err := r.walk(ctx); err != nil {
		return inventory.Source{}, err
	}
	if all := r.runs(); len(all) > 1 {
		return inventory.Source{}, &fault.Error{
			What: fmt.Sprintf("holds %d must-gathers, which may be of other clusters or days", len(all)), Where: top,
			Excerpt: strings.Join(all, "\n"), Fix: "give one of them: --must-gather " + shell.Path(filepath.Join(top, all[len(all)-1])),
		}
	}
	if r.objects == 0 {
		return inventory.Source{}, &fault.Error{
			What: "no must-gather: no object below " + clusterFolder + " or " + namespaceFolder, Where: top,
			Fix: "oc adm must-gather, and give the folder must-gather.local.* that it made",
		}
	}
	r.tellCoverage()
	return inventory.Source{Kind: "must-gather", Name: top, Detail: r.detail()}, nil
}

// walk visits the folder. It follows no links: one that leads out of the must-gather
// isn't part of it.
func (r *reader) walk(ctx context.Context) error {
	return filepath.WalkDir(r.top, func(file string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name, rerr := filepath.Rel(r.top, file)
		switch name = filepath.ToSlash(name); {
		case rerr != nil:
			return rerr
		case err != nil && name == ".":
			return unreadable(r.top, err)
		case err != nil:
			r.unlisted(name, err)
		case d.IsDir() || d.Type().IsRegular():
			r.visit(name, file, d.IsDir())
		}
		return nil
	})
}

// visit takes a file or folder. name is its path below the top.
func (r *reader) visit(name, file string, isFolder bool) {
	p := locate(name)
	var err error
	switch {
	case p.role == timestamp && !isFolder:
		err = r.readTime(file, p)
	case p.role == script && !isFolder:
		err = r.readScript(file)
	case p.role == timestamp || p.role == script || p.role == other && p.namespace == "":
	default:
		r.enter(p)
		if isFolder {
			return
		}
		switch p.role {
		case log:
			err = r.readLog(name, file)
		case object, list:
			err = r.readObjects(name, file, p)
		case timestamp, script, other:
		}
	}
	if err != nil {
		r.problem(p.resource, r.inside(name), infile.Cause(err), again)
	}
}

// runs are the folders of the must-gathers that were met. An unnamed one below
// another is a part of it: some images have folders of their own with namespaces in
// them.
func (r *reader) runs() []string {
	var all []string
	for _, root := range slices.Sorted(slices.Values(r.roots)) {
		folder, named := runOf(root)
		if !slices.Contains(all, path.Clean(folder)) && (named || !slices.ContainsFunc(all, func(above string) bool {
			return above == "." || strings.HasPrefix(folder, above+"/")
		})) {
			all = append(all, path.Clean(folder))
		}
	}
	return all
}

func checkFolder(top string) error {
	info, err := os.Stat(top)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fault.Error{What: "no such folder", Where: top, Err: fs.ErrNotExist, Fix: "oc adm must-gather, and give the folder that it made"}
	case err != nil:
		return unreadable(top, err)
	case !info.IsDir():
		return &fault.Error{
			What: "a must-gather is read from its folder, and this is a file", Where: top,
			Fix: "mkdir must-gather && tar -xf " + shell.Word(top) + " -C must-gather && verify skew --must-gather must-gather",
		}
	}
	return nil
}

func unreadable(file string, err error) error {
	return &fault.Error{What: "can't be read: " + infile.Cause(err), Where: file, Err: err, Fix: "ls -ld " + shell.Word(file)}
}

func (r *reader) detail() string {
	gathered := 0
	for _, n := range r.namespaces {
		if n.inspected || len(n.lists) > 0 {
			gathered++
		}
	}
	d := fmt.Sprintf("%s, %s, %s", inventory.Many(r.files, "file"), inventory.Many(r.objects, "object"), inventory.Many(gathered, "namespace"))
	if r.gatheredAt != "" {
		d += ", gathered " + r.gatheredAt
	}
	return d
}
