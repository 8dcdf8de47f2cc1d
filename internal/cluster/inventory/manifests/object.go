package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/validation"
	kjson "sigs.k8s.io/json"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

// node takes a YAML object, or the items of a List.
func (r *reader) node(d *document, n *yaml.Node, within object) error {
	n = yamlnode.Resolve(n)
	at := &document{d.file, d.line + n.Line - 1, d.text}
	items, list := n, object{}
	if n.Kind == yaml.MappingNode {
		items, list = yamlnode.Get(n, "items"), within
		for _, f := range []struct {
			name string
			into *string
		}{{"apiVersion", &list.APIVersion}, {"kind", &list.Kind}} {
			if v := yamlnode.Get(n, f.name); v != nil && v.Kind != yaml.ScalarNode {
				return at.failed(1, f.name+" isn't a text", rendered, "")
			} else if v != nil {
				*f.into = v.Value
			}
		}
	}
	if items != nil && items.Kind == yaml.SequenceNode && (list.isList() || items == n && listsObjects(n)) {
		if list.isList() {
			r.list(list, len(items.Content))
		}
		r.inList = true
		defer func() { r.inList = false }()
		for _, item := range items.Content {
			if err := r.node(d, item, list.item()); err != nil {
				r.refuse(d, err)
			}
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return at.failed(1, "this isn't a Kubernetes object", "give objects as the cluster has them, or as a chart renders them", "")
	}
	if list.Kind == "" && list.APIVersion != "" && items != nil && listsObjects(items) {
		return at.failed(1, "a list has no kind, which oc writes after its items", whole, "")
	}
	metadata, name := yamlnode.Get(n, "metadata"), ""
	if v := yamlnode.Get(metadata, "name"); v != nil {
		name = v.Value
	}
	return r.take(at, found{list, name, metadata != nil && yamlnode.Get(n, "spec") != nil, func() ([]byte, error) { return yamlnode.JSON(n) }})
}

// list counts a List: an empty one is read, too, and a typed one tells that there are none.
func (r *reader) list(of object, items int) {
	r.objects++
	if kind := of.item().Kind; items == 0 && r.c.Wants(of.APIVersion, kind) {
		r.empty[inventory.Resource(strings.ToLower(kind)+"s")] = true
	}
}

// raw takes a JSON object, or the items of a List.
func (r *reader) raw(d *document, within object) error {
	one := struct {
		object
		Metadata *struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec  json.RawMessage   `json:"spec"`
		Items []json.RawMessage `json:"items"`
	}{object: within}
	into := any(&one)
	if d.text[0] == '[' {
		into = &one.Items
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.text, into); err != nil {
		return d.failed(1, "this isn't a Kubernetes object: "+strings.TrimPrefix(err.Error(), "json: "), "give objects as the cluster has them", "")
	}
	if d.text[0] != '[' && !one.isList() {
		name := ""
		if one.Metadata != nil {
			name = one.Metadata.Name
		}
		return r.take(d, found{one.object, name, one.Metadata != nil && one.Spec != nil, func() ([]byte, error) { return d.text, nil }})
	}
	if one.isList() {
		r.list(one.object, len(one.Items))
	}
	r.inList = true
	defer func() { r.inList = false }()
	offset, line := 0, d.line
	for _, item := range one.Items {
		next := offset + max(bytes.Index(d.text[offset:], item), 0)
		line += bytes.Count(d.text[offset:next], []byte("\n"))
		offset = next
		each := &document{d.file, line, item}
		if err := r.raw(each, one.item()); err != nil {
			r.refuse(each, err)
		}
	}
	return nil
}

// take hands an object that is wanted to the collector.
func (r *reader) take(d *document, o found) error {
	switch {
	case o.Kind == "" && o.spec:
		return d.failed(1, "an object has no kind", "kind: DaemonSet, or what it is", "")
	case o.Kind == "":
		r.others++ // values.yaml, a list of a CI
		return nil
	case o.APIVersion == "":
		return d.failed(1, o.Kind+" has no apiVersion", "apiVersion: apps/v1, or what it is of", "")
	}
	r.objects++
	r.listed = r.listed || r.inList && o.Kind == "DaemonSet"
	if o.name == "" || !r.c.WantsNamed(o.APIVersion, o.Kind, o.name) {
		return r.unwanted(d, o)
	}
	content, err := o.content()
	if err != nil {
		return err
	}
	if m := unrendered.FindSubmatch(content); m != nil && o.Kind != "ConfigMap" {
		p, _ := d.problem(&failure{inventory.Problem{Where: d.at(1), What: "this is a template, " + printable.Clip(string(m[1])) + " isn't a value: render it first"}, true})
		r.tell(p) // it is taken all the same
	} else if wrong := validation.NameIsDNSSubdomain(o.name, false); len(wrong) > 0 {
		return d.failed(1, fmt.Sprintf("no API server takes the name of %s %q: %s", o.Kind, printable.Clip(o.name), wrong[0]), "give objects as the cluster has them", "")
	}
	decode := func(into any) error { return kjson.UnmarshalCaseSensitivePreserveInts(content, into) }
	if err := r.c.Add(o.APIVersion, o.Kind, decode, func(...any) string { return d.at(1) }); err != nil {
		return d.failed(1, "this isn't a "+o.Kind+": "+strings.TrimPrefix(err.Error(), "json: "), "give objects as the cluster has them", "")
	}
	return nil
}

// unwanted tells of what a driver may be missing through.
func (r *reader) unwanted(d *document, o found) error {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	meant, home := r.c.Meant(o.APIVersion, o.Kind), r.c.Misplaced(o.APIVersion, o.Kind)
	switch {
	case group == "kustomize.config.k8s.io":
		return d.failed(1, "this is a kustomization: what it builds wasn't read", "give what it builds", "kustomize build DIR | verify skew --manifests -")
	case o.Kind == "Template" && group == "template.openshift.io":
		return d.failed(1, "this is an OpenShift Template: render it first", rendered, "oc process --local -o yaml -f "+shell.Path(d.file)+" > rendered.yaml")
	case o.name == "" && r.c.Wants(o.APIVersion, o.Kind):
		return d.failed(1, o.Kind+" has no metadata.name", "give objects as the cluster has them", "")
	case meant != "":
		return d.failed(1, "there is no kind "+printable.Clip(o.Kind)+": API servers refuse it", "kind: "+meant, "")
	case home != "":
		return d.failed(1, "there is no "+o.Kind+" in "+o.APIVersion+", it is of "+home, "apiVersion: "+home, "")
	case !slices.Contains(holders[group], o.Kind):
		return nil
	}
	content, err := o.content()
	if err != nil {
		return err
	}
	text := strings.ToLower(string(content))
	if o.Kind == "ClusterServiceVersion" {
		copied := strings.Contains(text, `"olm.copiedfrom"`) || strings.Contains(text, `"reason":"copied"`)
		if !copied && strings.Contains(text, "csi") {
			r.operators = append(r.operators, func() { r.refuse(d, d.mayBring(o)) })
		}
		return nil
	}
	if o.Kind != "TridentOrchestrator" && !strings.Contains(text, `"daemonset"`) && !strings.Contains(text, "csi") {
		return nil // an Application may be anything
	}
	return d.mayBring(o)
}

func (d *document) mayBring(o found) error {
	return d.failed(1, strings.TrimSpace(o.Kind+" "+printable.Clip(o.name))+" may bring a CSI driver, and what comes of it wasn't looked into",
		"give what the cluster has of it", "oc get daemonsets -A -o yaml > daemonsets.yaml")
}
