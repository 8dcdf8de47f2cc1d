// Package mustgather reads a cluster's inventory from what `oc adm
// must-gather` or `oc adm inspect` wrote: a folder, or a tar archive of one,
// plain or compressed by gzip or zstd.
//
// It knows the paths of a must-gather and what they do and don't prove; what
// the objects mean, package kube knows. It doesn't gather, and it follows
// nothing out of the must-gather: no link and no path with "..".
//
// A must-gather holds only some namespaces, so what isn't in it isn't absent
// from the cluster. Coverage says of each resource whether all of it was
// seen, and what adds the rest. Folders and the claims of PersistentVolumes
// name some of the cluster's namespaces; that there are no others only a list
// tells, cluster-scoped-resources/core/namespaces.yaml, which no must-gather
// has by itself.
//
// Several must-gathers in one folder are refused with the list, newest first:
// half an answer from each of two days is none. Several images of one run are
// one must-gather.
package mustgather

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// Read adds what the must-gather at path holds to c. Every file is read at
// most once, in the order of the folder or archive; an archive is streamed.
//
// A file that can't be read, and an archive that ends in its middle, become a
// Problem and incomplete coverage. What is no must-gather, or several, is a
// *fault.Error.
func Read(ctx context.Context, c *kube.Collector, path string) (inventory.Source, error) {
	c.CountTemplates()
	r := newReader(c, path)
	err := walk(ctx, path, r.visit, r.skip)
	cut, isCut := errors.AsType[*cutError](err)
	if err != nil && !isCut {
		return inventory.Source{}, err
	}
	if r.several {
		return inventory.Source{}, r.runs.fault(r.archive())
	}
	if isCut {
		r.cutShort(cut)
	}
	if r.objects == 0 {
		return inventory.Source{}, notMustGather(path, cut)
	}
	r.tellCoverage()
	return inventory.Source{Kind: "must-gather", Name: path, Detail: r.detail()}, nil
}

func notMustGather(path string, cut *cutError) error {
	if cut != nil {
		return &fault.Error{
			What: "nothing of a must-gather can be read: " + cut.Error(), Where: path, Err: cut,
			Fix: "copy the archive again, or pack it again: tar -czf " + shell.Word(path) + " must-gather.local.*",
		}
	}
	return &fault.Error{
		What: "no must-gather: no object below " + clusterFolder + " or " + namespaceFolder, Where: path,
		Fix: "oc adm must-gather, and give the folder must-gather.local.* that it made",
	}
}

func (r *reader) detail() string {
	gathered := 0
	for _, n := range r.namespaces {
		if n.inspected || len(n.lists) > 0 {
			gathered++
		}
	}
	d := fmt.Sprintf("%s, %s, %s", inventory.Many(r.files, "file"), inventory.Many(r.objects, "object"), inventory.Many(gathered, "namespace"))
	for _, folder := range r.runs.folders() {
		if t := cmp.Or(r.runs.times[folder], r.runs.times[r.first]); t != "" {
			return d + ", gathered " + t
		}
	}
	return d
}
