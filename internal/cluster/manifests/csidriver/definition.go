package csidriver

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/version"
)

// definition is a file of the folder drivers: a driver's DaemonSet, version by
// version, and what else is known of it. The pods are those of the project's own
// manifests at the versions that OpenShift's releases ship. What is Linux's alone in
// them (seccomp, capabilities) is left out: the API server refuses it in a pod that
// says it is for Windows.
type definition struct {
	// Name is the catalog's.
	Name string `json:"name"`
	// Container is the one that runs the driver.
	Container string `json:"container"`
	// Differs are the differences from the project's DaemonSet.
	Differs []difference `json:"differs"`
	// OpenShift is the first release that the driver can serve Windows nodes on.
	OpenShift struct {
		From string `json:"from"`
		Why  string `json:"why"`
	} `json:"openShift"`
	// Unpublished are versions without an image, and the closest with one.
	Unpublished []struct {
		Version string `json:"version"`
		Instead string `json:"instead"`
		Why     string `json:"why"`
	} `json:"unpublished"`
	// HostNote is what the project says of its HostProcess mode.
	HostNote string `json:"hostNote"`
	// Cautions are what versions before one can't do on OpenShift's nodes.
	Cautions []struct {
		Before string `json:"before"`
		Text   string `json:"text"`
	} `json:"cautions"`
	// Rules are the rights that the driver needs where it can't use OpenShift's
	// service account, Lacks those that this account doesn't have, in some release at the
	// least.
	Rules []rbacv1.PolicyRule `json:"rules"`
	Lacks []rbacv1.PolicyRule `json:"lacks"`
	// Features: the driver reads a ConfigMap of OpenShift's operator.
	Features bool    `json:"features"`
	Example  example `json:"example"`
	// DaemonSet has no containers: they are the modes'. It is named as OpenShift and
	// WMCO's examples name theirs; the account is there already in OperatorNamespace.
	DaemonSet   json.RawMessage `json:"daemonSet"`
	Pipes       history         `json:"pipes"`
	HostProcess history         `json:"hostProcess"`
}

// difference is one from the project's DaemonSet.
type difference struct {
	// Where it is, as Change has it.
	Where string `json:"where"`
	Why   string `json:"why"`
}

type example struct {
	// Class is what the StorageClass has besides its name.
	Class map[string]any `json:"class"`
	// Comment on it, "" for the usual one.
	Comment string `json:"comment"`
	// Secret is the command that makes the Secret that the class names, "" for none.
	Secret string `json:"secret"`
	// Shared: many nodes may write at once.
	Shared bool `json:"shared"`
}

// history is a mode's pod over time, oldest version first: the first is whole, each
// later one is a strategic merge patch of the one before. A container without an
// image has the driver's. The doubled backslashes in arguments and variables are the
// projects' own: in a URL a single one would be taken for an escape.
type history struct {
	// Until is the first version that wasn't looked at, "" where the driver doesn't have
	// the mode.
	Until    string `json:"until"`
	Versions []struct {
		From string          `json:"from"`
		Pod  json.RawMessage `json:"pod"`
	} `json:"versions"`
}

//go:embed drivers objects
var files embed.FS

// Drivers are the names of the drivers that can be written.
func Drivers() []string {
	return []string{"vsphere", "azure-disk", "azure-file", "aws-ebs", "gcp-pd", "smb"}
}

// definitions are those of Drivers.
var definitions = sync.OnceValue(func() []*definition {
	common := read("common")
	var list []*definition
	for _, name := range Drivers() {
		d := read(name)
		d.Differs = append(d.Differs, common.Differs...)
		list = append(list, d)
	}
	return list
})

// read reads a part of the program: one that can't be read is a bug.
func read(name string) *definition {
	d := &definition{}
	if err := yaml.UnmarshalStrict(embedded("drivers/"+name+".yaml"), d); err != nil {
		panic(name + ": " + err.Error())
	}
	return d
}

// why is the reason of a difference, "" where there is none.
func (d *definition) why(where string) string {
	i := slices.IndexFunc(d.Differs, func(one difference) bool { return one.Where == where })
	if i < 0 {
		return ""
	}
	return d.Differs[i].Why
}

func embedded(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}

// definitionOf is nil for a driver that can't be written.
func definitionOf(name string) *definition {
	i := slices.Index(Drivers(), name)
	if i < 0 {
		return nil
	}
	return definitions()[i]
}

// of is the number of pods up to the one of a version, 0 where that version wasn't
// looked at.
func (h *history) of(v version.Driver) int {
	if h.Until == "" || v.Compare(version.MustDriver(h.Until)) >= 0 {
		return 0
	}
	n := 0
	for n < len(h.Versions) && v.Compare(version.MustDriver(h.Versions[n].From)) >= 0 {
		n++
	}
	return n
}

func (d *definition) history(hostProcess bool) *history {
	if hostProcess {
		return &d.HostProcess
	}
	return &d.Pipes
}

// daemonSet is the driver's at a version that was looked at, without csi-proxy's
// pipes.
func (d *definition) daemonSet(v version.Driver, hostProcess bool, image string) (*appsv1.DaemonSet, error) {
	h, whole := d.history(hostProcess), []byte(d.DaemonSet)
	var err error
	for _, one := range h.Versions[:h.of(v)] {
		patch := fmt.Appendf(nil, `{"spec":{"template":{"spec":%s}}}`, one.Pod)
		if whole, err = strategicpatch.StrategicMergePatch(whole, patch, appsv1.DaemonSet{}); err != nil {
			return nil, fmt.Errorf("%s from %s: %w", d.Name, one.From, err)
		}
	}
	ds := &appsv1.DaemonSet{}
	if err := yaml.UnmarshalStrict(whole, ds); err != nil {
		return nil, fmt.Errorf("%s v%s: %w", d.Name, v.Core(), err)
	}
	for _, c := range containers(&ds.Spec.Template.Spec) {
		c.Image = cmp.Or(c.Image, image)
	}
	return ds, nil
}

// names are the DaemonSet's and its service account's.
func (d *definition) names() (name, account string) {
	var ds appsv1.DaemonSet
	if err := json.Unmarshal(d.DaemonSet, &ds); err != nil {
		panic(d.Name + ": " + err.Error())
	}
	return ds.Name, ds.Spec.Template.Spec.ServiceAccountName
}

// containers are a pod's, those that run first before the others.
func containers(spec *corev1.PodSpec) []*corev1.Container {
	var all []*corev1.Container
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// container finds one by its name, nil for none.
func container(spec *corev1.PodSpec, name string) *corev1.Container {
	for _, c := range containers(spec) {
		if c.Name == name {
			return c
		}
	}
	return nil
}
