package csidriver

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

// DaemonSetFile is the one that the others are for.
const DaemonSetFile = "08-daemonset.yaml"

// ExampleFolder is below the others: what tries the driver isn't applied with it.
// A StorageClass can't be changed, so that an upgrade had better leave it alone.
const ExampleFolder = "example"

// testNamespace is where the example is.
const testNamespace = "windows-storage-test"

// Files of the example that TryOut needs by name.
const (
	classFile     = ExampleFolder + "/09-storageclass.yaml"
	namespaceFile = ExampleFolder + "/10-namespace.yaml"
)

// Access are the files that the DaemonSet needs first, in their order.
func (f *Folder) Access() []string {
	var names []string
	for _, file := range f.Files {
		if file.Name < DaemonSetFile {
			names = append(names, file.Name)
		}
	}
	return names
}

// TryOut are the commands that apply the example. path is how the shell has a
// file or a folder of the folder. SMB's class names a share that nobody has, and
// the parameters of a class can't be changed later: what makes it the admin's
// comes first, and so does its Secret.
func (f *Folder) TryOut(path func(name string) string) []string {
	apply := "oc apply -f " + path(ExampleFolder)
	e := f.definition.Example
	if e.Secret == "" {
		return []string{apply}
	}
	parameters, _ := e.Class["parameters"].(map[string]any)
	return []string{
		fmt.Sprintf("sed -i 's|%s|//SERVER/SHARE|' %s", parameters["source"], path(classFile)),
		"oc apply -f " + path(namespaceFile),
		e.Secret,
		apply,
	}
}

// files are the objects, each with a comment on what it is for. A number is
// always the same object's, whether the others are there or not.
func (c *choice) files(ds *appsv1.DaemonSet, testImage string) ([]File, error) {
	d := c.definition
	_, usual := d.names()
	account := ds.Spec.Template.Spec.ServiceAccountName
	own := ds.Namespace != OperatorNamespace || account != usual
	rules, rulesFor := d.Rules, ""
	if !own {
		rules, rulesFor = d.Lacks, `What the pod reads in the cluster. OpenShift's service account may not read all of
it in every release: the Linux pods don't need to.`
	}
	w := c.writer(ds, testImage)
	if !object.ClustersOwn(ds.Namespace) {
		w.write("01-namespace.yaml", "", nil)
	}
	if own && account == usual {
		w.write("02-service-account.yaml", "", nil)
	}
	if own || c.hostProcess {
		w.write("03-scc.yaml", "", nil)
	}
	if len(rules) > 0 {
		w.write("04-role.yaml", rulesFor, map[string]any{"rules": rules})
		w.write("05-role-binding.yaml", "", nil)
	}
	if own && d.Features {
		w.write("06-features-role.yaml", "", nil)
		w.write("07-features-binding.yaml", "", nil)
	}
	w.add(DaemonSetFile, c.purpose(), ds)
	w.write(classFile, strings.TrimSpace(d.Example.Comment+d.Example.Secret), d.Example.Class)
	w.write(namespaceFile, "", nil)
	w.write(ExampleFolder+"/11-pvc.yaml", "", nil)
	w.write(ExampleFolder+"/12-deployment.yaml", "", nil)
	return w.files, w.err
}

func (c *choice) purpose() string {
	how := "It reaches the node through csi-proxy's pipes, which the Windows Machine Config\nOperator serves."
	if c.hostProcess {
		how = "It runs on the node itself, as a HostProcess container."
	}
	return fmt.Sprintf(`The Windows node part of the %s v%s, the
upstream version closest to the one that OpenShift %s runs on Linux.
%s
Controller, CSIDriver object and Linux nodes stay the cluster's operator's.
Where a DaemonSet of this name is there already, put this one in its place with
oc replace -f %s: its pods are replaced node by node.`, c.driver.Title, c.version.Core(), c.release, how, DaemonSetFile)
}

type writer struct {
	files []File
	err   error
	// names are put for the words in capitals that the embedded objects have.
	names *strings.Replacer
	// made is the last line of each comment.
	made string
}

func (c *choice) writer(ds *appsv1.DaemonSet, testImage string) *writer {
	access := "ReadWriteOnce"
	if c.definition.Example.Shared {
		access = "ReadWriteMany"
	}
	return &writer{
		names: strings.NewReplacer("NAMESPACE", ds.Namespace, "DAEMONSET", ds.Name, "ACCOUNT", ds.Spec.Template.Spec.ServiceAccountName, "CLASS", "windows-"+c.definition.Name,
			"ACCESS", access, "WINDOWS", c.windows.name, "IMAGE", testImage, "SHELL", c.windows.shell),
		made: fmt.Sprintf("Written by bake manifests csi-driver %s --for %s; catalog of %s.", c.driver.Name, c.release, c.catalog.AsOf),
	}
}

// write adds an embedded object with fields besides its own. Its comment is the
// embedded one where none is given.
func (w *writer) write(name, comment string, fields map[string]any) {
	text := embedded(path.Join("objects", name))
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		panic(name + ": " + err.Error()) // part of the program
	}
	comment = cmp.Or(comment, head(string(text)))
	tree, _ = w.named(tree).(map[string]any)
	maps.Copy(tree, fields)
	w.add(name, w.names.Replace(comment), tree)
}

func (w *writer) add(name, comment string, o any) {
	data, err := object.Document(strings.TrimSpace(comment)+"\n"+w.made, o)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.files = append(w.files, File{Name: name, Data: data})
}

// named puts the names into all texts of an object.
func (w *writer) named(node any) any {
	switch n := node.(type) {
	case string:
		return w.names.Replace(n)
	case map[string]any:
		for key, value := range n {
			n[key] = w.named(value)
		}
	case []any:
		for i, value := range n {
			n[i] = w.named(value)
		}
	}
	return node
}

func head(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "# "))
	}
	return strings.Join(lines, "")
}

// Render writes the files for a driver and a release. Its errors are
// *fault.Error: no such driver or release, no version that fits, a mode that
// the version doesn't have, images that can't be named.
func Render(cat *catalog.Catalog, o Options) (*Folder, error) {
	o.Namespace = cmp.Or(o.Namespace, OperatorNamespace)
	if !object.ValidNamespace(o.Namespace) || o.Namespace == testNamespace {
		return nil, &fault.Error{What: fmt.Sprintf("%q can't be the driver's namespace", o.Namespace), Fix: "--namespace, in lower-case letters, digits and dashes; or leave it out for " + OperatorNamespace}
	}
	if o.Namespace != OperatorNamespace && object.ClustersOwn(o.Namespace) && (o.Old == nil || !o.Old.inPlace(o.Namespace)) {
		return nil, &fault.Error{What: o.Namespace + " is the cluster's own, and its labels would be changed", Fix: "--namespace, one of yours or a new one; or leave it out for " + OperatorNamespace}
	}
	c, err := choose(cat, o)
	if err != nil {
		return nil, err
	}
	ds, err := c.daemonSet(o.Namespace, c.source())
	if err != nil {
		return nil, err
	}
	if c.old != nil {
		c.keepChoices(o)
		c.keep(ds)
	}
	m, err := useImages(o, &ds.Spec.Template.Spec)
	if err != nil {
		return nil, err
	}
	files, err := c.files(ds, m.at(c.windows.image, false))
	if err != nil {
		return nil, err
	}
	return &Folder{Title: c.driver.Title, Version: c.version, HostProcess: c.hostProcess, definition: c.definition, daemonSet: ds, Files: files, Notes: c.notes, kept: c.kept}, nil
}
