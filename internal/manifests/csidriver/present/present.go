// Package present finds the DaemonSet of a driver that is to be replaced in a
// manifest. It reads pods as verify does, which package csidriver doesn't need for
// writing one.
package present

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory/kube"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/shell"
)

// maxOld is more than any project's manifest has, in bytes.
const maxOld = 16 << 20

// Parse finds the one Windows DaemonSet of a known driver in a manifest, which
// may hold other objects beside it. name is the file's, for errors, which are
// *fault.Error: none, two, no YAML.
func Parse(cat *catalog.Catalog, name string, text []byte) (*csidriver.Old, error) {
	if len(text) > maxOld {
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("%d bytes are too many for a DaemonSet", len(text)), Fix: "give the file with the DaemonSet alone"}
	}
	sets, err := daemonSets(text)
	if err != nil {
		return nil, &fault.Error{Where: name, What: "it can't be read as YAML of Kubernetes objects: " + err.Error(), Fix: "oc get daemonset NAME -o yaml > " + shell.Word(name), Err: err}
	}
	var found []*csidriver.Old
	for _, ds := range sets {
		if driver := runs(cat, &ds.Spec.Template.Spec); driver != "" {
			found = append(found, &csidriver.Old{Driver: driver, DaemonSet: ds})
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("there is no Windows DaemonSet of a driver in it, among %d of any kind", len(sets)), Fix: "give the one of " + strings.Join(csidriver.Drivers(), ", ") + ": oc get daemonset NAME -o yaml > " + shell.Word(name)}
	}
	var names []string
	for _, o := range found {
		names = append(names, fmt.Sprintf("%s (%s)", o.DaemonSet.Name, o.Driver))
	}
	return nil, &fault.Error{Where: name, What: "there are several Windows DaemonSets in it: " + strings.Join(names, ", "), Fix: "give a file with one of them"}
}

// daemonSets are all of a manifest, those of Lists too.
func daemonSets(text []byte) ([]*appsv1.DaemonSet, error) {
	var sets []*appsv1.DaemonSet
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return sets, nil
		}
		if err != nil {
			return nil, err
		}
		var head struct {
			Kind  string           `json:"kind"`
			Items []map[string]any `json:"items"`
		}
		if err := yaml.Unmarshal(doc, &head); err != nil {
			return nil, err
		}
		docs := [][]byte{doc}
		if strings.HasSuffix(head.Kind, "List") {
			docs = nil
			for _, item := range head.Items {
				text, err := yaml.Marshal(item)
				if err != nil {
					return nil, err
				}
				docs = append(docs, text)
			}
		}
		for _, doc := range docs {
			ds, err := daemonSetOf(doc)
			if err != nil {
				return nil, err
			}
			if ds != nil {
				sets = append(sets, ds)
			}
		}
	}
}

func daemonSetOf(doc []byte) (*appsv1.DaemonSet, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(doc, &head); err != nil || head.Kind != "DaemonSet" {
		return nil, err
	}
	var ds appsv1.DaemonSet
	if err := yaml.Unmarshal(doc, &ds); err != nil {
		return nil, err
	}
	return &ds, nil
}

// runs is the driver that a Windows pod runs, "" for none: a container bears
// the name of one of its, and the pod its folder.
func runs(cat *catalog.Catalog, spec *corev1.PodSpec) string {
	if !kube.ForWindows(spec) {
		return ""
	}
	for _, name := range csidriver.Drivers() {
		driver := cat.Driver(name)
		if driver == nil || !slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool { return namesFolder(c, driver.Provisioner) }) {
			continue
		}
		return name
	}
	return ""
}

// namesFolder tells whether a container names the driver's folder below the
// kubelet's plugins, as every registrar must.
func namesFolder(c corev1.Container, provisioner string) bool {
	texts := slices.Concat(c.Command, c.Args)
	for _, e := range c.Env {
		texts = append(texts, e.Value)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		flat := strings.ReplaceAll(strings.ReplaceAll(text, `\\`, "/"), `\`, "/")
		return strings.Contains(strings.ToLower(flat), "/plugins/"+provisioner+"/")
	})
}
