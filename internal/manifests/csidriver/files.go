package csidriver

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/manifests/object"
)

// DaemonSetFile is the one that the others are for.
const DaemonSetFile = "08-daemonset.yaml"

// ExampleFolder is below the others: what tries the driver isn't applied with it.
// A StorageClass can't be changed, so that an upgrade had better leave it alone.
const ExampleFolder = "example"

// Files of the example that SMB's needs by name.
const (
	classFile     = ExampleFolder + "/09-storageclass.yaml"
	namespaceFile = ExampleFolder + "/10-namespace.yaml"
)

// TryOut are the commands that apply the example. path is how the shell has a
// file or a folder of the folder. SMB's class names a share that nobody has, and
// the parameters of a class can't be changed later: what makes it the admin's
// comes first, and so does its Secret.
func (f *Folder) TryOut(path func(name string) string) []string {
	apply := "oc apply -f " + path(ExampleFolder)
	if f.container != smb.container {
		return []string{apply}
	}
	return []string{
		"sed -i 's|" + smbSource + "|//SERVER/SHARE|' " + path(classFile),
		"oc apply -f " + path(namespaceFile),
		smbSecretCommand,
		apply,
	}
}

// entry is a file before it is written.
type entry struct {
	name, comment string
	object        any
}

// files are the objects, each with a comment on what it is for. A number is
// always the same object's, whether the others are there or not.
func (c *choice) files(namespace string, spec corev1.PodSpec, testImage string) ([]File, error) {
	var files []File
	for _, e := range append(c.access(namespace), c.driverAndTest(namespace, spec, testImage)...) {
		comment := fmt.Sprintf("%s\nWritten by bake manifests csi-driver %s --for %s; catalog of %s.", strings.TrimSpace(e.comment), c.driver.Name, c.release, c.catalog.AsOf)
		data, err := object.Document(comment, e.object)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: e.name + ".yaml", Data: data})
	}
	return files, nil
}

// access is what the pod needs of its namespace.
func (c *choice) access(namespace string) []entry {
	var list []entry
	own := namespace != OperatorNamespace
	if own {
		list = append(list,
			entry{"01-namespace", `The driver's own namespace, with the Pod Security level that host paths and
HostProcess need.`, ownNamespace(namespace)},
			entry{"02-service-account", `The driver's service account. In ` + OperatorNamespace + ` OpenShift has one of
this name; here it is the same name with the rights below.`, c.shape.serviceAccount(namespace)})
	}
	if own || c.hostProcess {
		list = append(list, entry{"03-scc", `Lets the driver's service account use the SCC privileged. OpenShift passes pods
with spec.os.name windows over, so that this matters only where it doesn't. It
was never exercised: SCCs are OpenShift's alone.`, c.shape.scc(namespace)})
	}
	rules, what := c.shape.rules, "What the driver reads and writes in the cluster."
	if !own {
		rules, what = c.shape.lacks, `What the pod reads in the cluster. OpenShift's service account may not read all of
it in every release: the Linux pods don't need to.`
	}
	if len(rules) > 0 {
		list = append(list,
			entry{"04-role", what, c.shape.clusterRole(rules)},
			entry{"05-role-binding", "Gives that to the driver's service account.", c.shape.clusterRoleBinding(namespace)})
	}
	if own && c.shape.features != "" {
		const why = "Lets the driver read its switches, the ConfigMap\n"
		list = append(list,
			entry{"06-features-role", why + c.shape.features + " of OpenShift's operator.", c.shape.featureRole()},
			entry{"07-features-binding", "Gives that to the driver's service account.", c.shape.featureBinding(namespace)})
	}
	return list
}

func (c *choice) driverAndTest(namespace string, spec corev1.PodSpec, testImage string) []entry {
	how := "It reaches the node through csi-proxy's pipes, which the Windows Machine Config\nOperator serves."
	if c.hostProcess {
		how = "It runs on the node itself, as a HostProcess container."
	}
	class := `A StorageClass for Windows pods. Volumes of other classes may be formatted for
Linux.`
	switch {
	case c.shape.storage.shared && c.driver.Name == "smb":
		class = `A StorageClass for Windows pods: put your server and share in place of source.
A class can't be changed later. It needs a Secret with a user of theirs:
` + smbSecretCommand
	case c.shape.storage.shared:
		class = "A StorageClass for Windows pods: shares without Linux' mount options."
	}
	return []entry{
		{strings.TrimSuffix(DaemonSetFile, ".yaml"), fmt.Sprintf(`The Windows node part of the %s v%s, the
upstream version closest to the one that OpenShift %s runs on Linux.
%s
Controller, CSIDriver object and Linux nodes stay the cluster's operator's.`, c.driver.Title, c.version.Core(), c.release, how), c.daemonSet(namespace, spec)},
		{strings.TrimSuffix(classFile, ".yaml"), class, c.shape.storageClass(c.driver.Provisioner)},
		{strings.TrimSuffix(namespaceFile, ".yaml"), "A namespace to try the driver in. Delete it when you are done.", plainNamespace(testNamespace)},
		{ExampleFolder + "/11-pvc", "A claim for a volume, to try the driver with.", c.shape.claim()},
		{ExampleFolder + "/12-deployment", fmt.Sprintf(`A pod for Windows Server %s that writes the time into C:\data\times.txt of the
volume every ten seconds. It shows that the driver works when the file survives
the pod.`, c.windows.name), c.shape.deployment(c.windows, testImage)},
	}
}
