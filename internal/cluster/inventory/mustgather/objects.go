package mustgather

import (
	"io"

	"github.com/winbake/winbake/internal/base/infile"
)

func (r *reader) readObjects(name, file string, p place) error {
	k, ok := kinds[p.resource]
	if !ok {
		return nil
	}
	if done := r.gathered(p); done || !r.c.Wants(k.apiVersion, k.kind) {
		return nil
	}
	f, err := infile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	var src []byte
	plain, err := inflated(f)
	if err == nil {
		src, err = io.ReadAll(plain)
	}
	if err != nil {
		return err
	}
	r.files++
	docs, err := documents(r.inside(name), src, p.role == list)
	if err != nil {
		return err
	}
	for i := range docs {
		r.add(&docs[i], p, k)
	}
	return nil
}

// gathered notes what a file says about its namespace, and tells whether what
// is in it was read already.
func (r *reader) gathered(p place) bool {
	if p.namespace == "" {
		if p.role == list {
			r.listed[p.resource] = true
		}
		return false
	}
	n := r.namespace(p.namespace)
	n.inspected = n.inspected || p.resource == "core/namespaces"
	if p.role == list {
		n.lists[p.resource] = true
	}
	return p.pod && n.lists[p.resource]
}

// add hands an object on, the first of those with one name.
func (r *reader) add(d *document, p place, k kind) {
	if name := d.name(); name != "" && !r.c.WantsNamed(k.apiVersion, k.kind, name) {
		return
	}
	h, err := d.parse()
	if err != nil {
		where, what := d.fault(err)
		r.problem(p.resource, where, what, again)
		return
	}
	if h.Metadata.Namespace == "" && k.namespaced {
		h.Metadata.Namespace = p.namespace
	}
	key := p.resource + " " + h.Metadata.Namespace + "/" + h.Metadata.Name
	if r.seen[key] || !r.c.WantsNamed(k.apiVersion, k.kind, h.Metadata.Name) {
		return
	}
	r.seen[key] = true
	r.note(p, h)
	if err := r.c.Add(k.apiVersion, k.kind, k.decoder(d), d.locate); err != nil {
		r.problem(p.resource, d.locate(), infile.Cause(err), again)
		return
	}
	r.objects++
}

// note keeps what coverage is told by.
func (r *reader) note(p place, h head) {
	switch p.resource {
	case "storage.k8s.io/csinodes":
		r.csiNodes[h.Metadata.Name] = true
	case "core/namespaces":
		r.namespace(h.Metadata.Name)
	case "core/persistentvolumes":
		if ns := h.Spec.ClaimRef.Namespace; ns != "" {
			r.namespace(ns)
		}
	}
}
