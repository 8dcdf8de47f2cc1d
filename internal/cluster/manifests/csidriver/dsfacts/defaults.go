package dsfacts

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

//go:embed defaults.yaml
var defaultsFile []byte

var defaults = sync.OnceValue(func() (usual any) {
	if err := yaml.Unmarshal(defaultsFile, &usual); err != nil {
		panic(err) // part of the program
	}
	return usual
})

// Bare is a DaemonSet without what the API server fills in, so that one of a cluster
// compares with one of a file.
func Bare(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	var tree any
	bare := &appsv1.DaemonSet{}
	if json.Unmarshal([]byte(Text(ds)), &tree) != nil || json.Unmarshal([]byte(Text(without(tree, defaults()))), bare) != nil {
		return ds.DeepCopy() // what was read as a DaemonSet is written as one
	}
	spec := &bare.Spec.Template.Spec
	spec.ServiceAccountName, spec.DeprecatedServiceAccount = cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount), ""
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			derived(&list[i], spec.HostNetwork)
		}
	}
	return bare
}

// derived takes the defaults out that follow from other fields. What has a limit and
// no request gets the limit for one.
func derived(c *corev1.Container, hostNetwork bool) {
	for i := range c.Ports {
		if p := &c.Ports[i]; hostNetwork && p.HostPort == p.ContainerPort {
			p.HostPort = 0
		}
	}
	if len(c.Resources.Limits) > 0 {
		requests := maps.Clone(c.Resources.Limits)
		maps.Copy(requests, c.Resources.Requests)
		c.Resources.Requests = requests
	}
}

// without is a node of JSON without what it has as usual; nil where nothing is left.
func without(node, usual any) any {
	switch n := node.(type) {
	case map[string]any:
		fields, _ := usual.(map[string]any)
		for key, one := range fields {
			value, has := n[key]
			if !has {
				continue
			}
			if n[key] = without(value, one); n[key] == nil {
				delete(n, key)
			}
		}
		if len(n) == 0 {
			return nil
		}
	case []any:
		list, _ := usual.([]any)
		for i := range n {
			n[i] = without(n[i], list[0])
		}
	default:
		if reflect.DeepEqual(node, usual) {
			return nil
		}
	}
	return node
}

// Text is a small object in one line. Its keys are in the types' order.
func Text(o any) string {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Sprint(o)
	}
	return string(b)
}
