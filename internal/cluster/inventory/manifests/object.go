package manifests

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

type object struct {
	apiVersion, kind string
}

// isList tells a List, or a typed one such as NodeList.
func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// item is what the items of a typed List are: they may leave it out.
func (o object) item() object {
	if kind := strings.TrimSuffix(o.kind, "List"); kind != "" {
		return object{o.apiVersion, kind}
	}
	return object{}
}

// maxNesting bounds Lists in Lists.
const maxNesting = 5

// object takes one object, or the items of a List; within gives kind and
// version to the items of a typed list, which may leave them out.
func (r *reader) object(d *document, n *yaml.Node, within object, depth int) error {
	n = yamlnode.Resolve(n)
	if listsObjects(n) {
		return r.items(d, n, object{}, depth)
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return d.noObject(n)
	}
	o, err := d.kind(n, within)
	switch {
	case err != nil:
		return err
	case o.kind == "":
		r.others++ // values.yaml, a list of a CI
		return nil
	}
	if items := yamlnode.Get(n, "items"); items != nil && items.Kind == yaml.SequenceNode && isList(o.kind) {
		return r.items(d, items, o, depth)
	}
	r.objects++
	return r.take(d, n, o)
}

// listsObjects tells a bare list of objects, what `jq .items` leaves of a List,
// from the lists of other programs.
func listsObjects(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.SequenceNode && len(n.Content) > 0 && !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool {
		item = yamlnode.Resolve(item)
		return item == nil || item.Kind != yaml.MappingNode || yamlnode.Get(item, "kind") == nil || yamlnode.Get(item, "apiVersion") == nil
	})
}

func (r *reader) items(d *document, items *yaml.Node, list object, depth int) error {
	if depth >= maxNesting {
		return failed(d, items, "Lists stand inside of Lists too deep")
	}
	r.objects++
	for _, item := range items.Content {
		if err := r.object(d, item, list.item(), depth+1); err != nil {
			r.refuse(d, err)
		}
	}
	return nil
}

// kind reads apiVersion and kind; an empty object is a mapping that has
// neither and doesn't look like an object.
func (d *document) kind(n *yaml.Node, within object) (object, error) {
	apiVersion, kind := yamlnode.Get(n, "apiVersion"), yamlnode.Get(n, "kind")
	o := within
	for _, f := range []struct {
		node *yaml.Node
		into *string
		name string
	}{{apiVersion, &o.apiVersion, "apiVersion"}, {kind, &o.kind, "kind"}} {
		if f.node == nil {
			continue
		}
		if f.node.Kind != yaml.ScalarNode {
			return object{}, failed(d, f.node, f.name+" isn't a text")
		}
		*f.into = f.node.Value
	}
	switch {
	case o.kind != "" && o.apiVersion == "" && !isKustomization(o.kind):
		return object{}, failed(d, n, o.kind+" has no apiVersion")
	case o.kind == "" && yamlnode.Get(n, "metadata") != nil && yamlnode.Get(n, "spec") != nil:
		return object{}, failed(d, n, "an object has no kind")
	case o.kind == "" && apiVersion != nil && listsObjects(yamlnode.Get(n, "items")):
		return object{}, &failure{where: d.where(n), what: "a list has no kind, which oc writes after its items", fix: "the file may be cut off: copy it again from where it is whole"}
	}
	return o, nil
}

func (r *reader) take(d *document, n *yaml.Node, o object) error {
	name := yamlnode.Get(yamlnode.Get(n, "metadata"), "name")
	wanted := name != nil && r.c.WantsNamed(o.apiVersion, o.kind, name.Value)
	if !wanted {
		if err := d.holder(n, o); err != nil {
			return err
		}
	}
	switch {
	case isKustomization(o.kind):
		return d.kustomization(n)
	case o.kind == "Template" && strings.HasPrefix(o.apiVersion, "template.openshift.io/"):
		return &failure{where: d.where(n), what: "this is an OpenShift Template: render it first", fix: rendered, command: "oc process --local -o yaml -f " + shell.Path(d.file) + " > rendered.yaml"}
	}
	if !wanted {
		if name == nil && r.c.Wants(o.apiVersion, o.kind) {
			return failed(d, n, o.kind+" has no metadata.name")
		}
		if meant := r.c.Meant(o.apiVersion, o.kind); meant != "" {
			return &failure{where: d.where(cmp.Or(yamlnode.Get(n, "kind"), n)), what: "there is no kind " + printable.Clip(o.kind) + ": API servers refuse it", fix: "kind: " + meant}
		}
		if home := r.c.Misplaced(o.apiVersion, o.kind); home != "" { // left alone, a driver in it would just be missing from the answer
			return &failure{where: d.where(cmp.Or(yamlnode.Get(n, "apiVersion"), n)), what: "there is no " + o.kind + " in " + o.apiVersion + ", it is of " + home, fix: "apiVersion: " + home}
		}
		return nil
	}
	if err := d.unrendered(n, o); err != nil {
		r.doubt(d, err)
	}
	r.json.reset(d)
	if err := r.json.write(n); err != nil {
		return err
	}
	if err := r.json.doubt; err != nil {
		r.doubt(d, err)
	}
	return r.c.Add(o.apiVersion, o.kind, r.json.into, d.locator(n))
}

// noObject is the failure of a document that is a text or a list.
func (d *document) noObject(n *yaml.Node) error {
	what := "this isn't a Kubernetes object"
	if n == nil {
		return &failure{where: d.at(1, 1), what: what}
	}
	switch n.Kind {
	case yaml.ScalarNode:
		what += ", but a text"
	case yaml.SequenceNode:
		what += ", but a list"
	case yaml.DocumentNode, yaml.MappingNode, yaml.AliasNode:
	}
	return &failure{where: d.where(n), what: what, fix: "give objects as the cluster has them, or as a chart renders them"}
}

// holders are kinds that have others make objects, by the end of their group:
// what comes of them isn't in the file, or is there as a part of it that
// something else applies, to another cluster maybe.
var holders = map[string][]string{
	"policy.open-cluster-management.io": {"Policy", "ConfigurationPolicy"},
	"work.open-cluster-management.io":   {"ManifestWork", "ManifestWorkReplicaSet"},
	"apps.open-cluster-management.io":   {"Subscription"},
	"hive.openshift.io":                 {"SyncSet", "SelectorSyncSet"},
	"helm.toolkit.fluxcd.io":            {"HelmRelease"},
	"kustomize.toolkit.fluxcd.io":       {"Kustomization"},
	"helm.cattle.io":                    {"HelmChart", "HelmChartConfig"},
	"argoproj.io":                       {"Application", "ApplicationSet"},
	"operators.coreos.com":              {"ClusterServiceVersion"},
	"olm.operatorframework.io":          {"ClusterExtension"},
	"trident.netapp.io":                 {"TridentOrchestrator"},
}

// holder tells of an object that may bring a driver, and isn't looked into. Of
// those that don't speak of one nothing is told: an Application may be anything.
func (d *document) holder(n *yaml.Node, o object) error {
	group, _, _ := strings.Cut(o.apiVersion, "/")
	if !slices.Contains(holders[group], o.kind) || o.kind != "TridentOrchestrator" && !speaksOfCSI(n, 0) {
		return nil
	}
	called := o.kind
	if name := yamlnode.Get(yamlnode.Get(n, "metadata"), "name"); name != nil {
		called += " " + printable.Clip(name.Value)
	}
	return &failure{
		where: d.where(n), what: called + " may bring a CSI driver, and what comes of it wasn't looked into",
		fix: "give what the cluster has of it", command: "oc get daemonsets -A -o yaml > daemonsets.yaml",
	}
}

// speaksOfCSI tells whether a text anywhere in an object names CSI, or an object
// that it holds is a DaemonSet.
func speaksOfCSI(n *yaml.Node, depth int) bool {
	if n == nil || depth > maxDepth {
		return false
	}
	if n.Kind == yaml.ScalarNode {
		text := strings.ToLower(n.Value)
		return text == "daemonset" || strings.Contains(text, "csi")
	}
	return slices.ContainsFunc(n.Content, func(below *yaml.Node) bool { return speaksOfCSI(below, depth+1) })
}

// problem words an error of this document: a failure of ours, or what the
// parsers say.
func (d *document) problem(err error) (p inventory.Problem, isTemplate bool) {
	if f, ok := errors.AsType[*failure](err); ok {
		if f.template {
			f.fix, f.command = rendered, d.render()
		}
		return inventory.Problem{Where: f.where, What: f.what, Fix: f.fix, Command: f.command}, f.template
	}
	if f := d.template(); f != nil {
		return d.problem(f)
	}
	line, what := parserLine(err)
	if strings.Contains(what, "tab") && bytes.IndexByte(d.lineText(line), '\t') < 0 && bytes.IndexByte(d.lineText(line+1), '\t') >= 0 {
		line++ // the parser is still at the line above
	}
	return inventory.Problem{Where: d.at(line, d.column(line)), What: "this isn't YAML: " + what, Fix: d.fix(line)}, false
}

// unrendered looks for template marks in an object that is YAML all the same:
// image: ${IMAGE}, or image: "{{ .Values.image }}".
func (d *document) unrendered(n *yaml.Node, o object) error {
	if o.kind == "ConfigMap" || !bytes.Contains(d.text, []byte("{")) {
		return nil
	}
	if found := templated(n, 0); found != nil {
		return &failure{
			where: d.where(found), what: "this is a template, " + strings.TrimSpace(printable.Clip(found.Value)) + " isn't a value: render it first",
			template: true,
		}
	}
	return nil
}
