// Package present finds the DaemonSet of a driver that is to be replaced in a
// manifest. It reads pods as verify does, which package csidriver doesn't need for
// writing one.
package present

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// Parse finds the one Windows DaemonSet of a known driver in a manifest, which
// may hold other objects beside it. name is the file's, for errors, which are
// *fault.Error: none, two, no YAML.
func Parse(cat *catalog.Catalog, name string, text []byte) (*csidriver.Old, error) {
	sets, err := daemonSets(text)
	if err != nil {
		return nil, &fault.Error{Where: name, What: "it can't be read as YAML of Kubernetes objects: " + err.Error(), Fix: "oc get daemonset NAME -o yaml > " + shell.Word(name), Err: err}
	}
	var found []*csidriver.Old
	for _, ds := range sets {
		if driver := runs(cat, ds); driver != "" {
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
		if err == nil {
			sets, err = appendSets(sets, doc)
		}
		if err != nil {
			return nil, err
		}
	}
}

func appendSets(sets []*appsv1.DaemonSet, object []byte) ([]*appsv1.DaemonSet, error) {
	var head struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	err := yaml.Unmarshal(object, &head)
	if err == nil && head.Kind == "DaemonSet" {
		ds := &appsv1.DaemonSet{}
		err = yaml.Unmarshal(object, ds)
		sets = append(sets, ds)
	}
	for _, item := range head.Items {
		if err == nil {
			sets, err = appendSets(sets, item)
		}
	}
	return sets, err
}

// runs is the driver that a Windows DaemonSet runs, as verify identifies it; "" for none
// that can be written.
func runs(cat *catalog.Catalog, ds *appsv1.DaemonSet) string {
	c := kube.NewCollector(kube.Options{Catalog: cat})
	kube.Take(c, "apps/v1", "DaemonSet", ds)
	for _, d := range c.Inventory().Drivers {
		if d.OS == "windows" && slices.Contains(csidriver.Drivers(), d.Line) {
			return d.Line
		}
	}
	return ""
}
