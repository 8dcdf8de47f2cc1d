package csidriver

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver/dsfacts"
)

// TestDefinitions builds every DaemonSet of every driver: each version's patch goes
// over the one before, and nothing of a pod is left to chance.
func TestDefinitions(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	built := 0
	for _, d := range definitions() {
		known := cat.Driver(d.Name)
		if known == nil || d.Example.Class["provisioner"] != known.Provisioner || !slices.Contains(known.Containers, d.Container) {
			t.Errorf("%s: the catalog has another driver: %+v", d.Name, known)
			continue
		}
		for _, hostProcess := range []bool{false, true} {
			h := d.history(hostProcess)
			before := version.Driver{}
			for i, one := range h.Versions {
				v := version.MustDriver(one.From)
				if v.Compare(before) <= 0 || h.of(v) != i+1 {
					t.Errorf("%s: %s isn't after %s", d.Name, one.From, before)
				}
				before = v
				checkBuilt(t, d, v, hostProcess, known.Provisioner)
				built++
			}
			if h.Until != "" && (before.Compare(version.MustDriver(h.Until)) >= 0 || h.of(version.MustDriver(h.Until)) != 0) {
				t.Errorf("%s: the last version %s isn't before %s", d.Name, before, h.Until)
			}
		}
	}
	if built < 50 {
		t.Errorf("only %d DaemonSets were built", built)
	}
}

func checkBuilt(t *testing.T, d *definition, v version.Driver, hostProcess bool, provisioner string) {
	t.Helper()
	ds, err := d.daemonSet(v, hostProcess, "the driver's")
	if err != nil {
		t.Error(err)
		return
	}
	name := d.Name + " v" + v.Core()
	if len(ds.Spec.Selector.MatchLabels) == 0 || !maps.Equal(ds.Spec.Selector.MatchLabels, ds.Spec.Template.Labels) {
		t.Errorf("%s: the selector %v doesn't find the pods %v", name, ds.Spec.Selector.MatchLabels, ds.Spec.Template.Labels)
	}
	spec := &ds.Spec.Template.Spec
	if c := spec.SecurityContext; (c != nil && dsfacts.IsHostProcess(c.WindowsOptions)) != hostProcess || spec.HostNetwork != hostProcess {
		t.Errorf("%s: HostProcess is %+v", name, c)
	}
	if !toleratesWMCO(spec) {
		t.Errorf("%s: WMCO's nodes have a taint that it doesn't tolerate: %v", name, spec.Tolerations)
	}
	sources, registers := map[string]bool{}, false
	for _, volume := range spec.Volumes {
		sources[volume.Name] = true
	}
	for _, c := range containers(spec) {
		if drivers := c.Name == d.Container || c.Name == "init"; (c.Image == "the driver's") != drivers {
			t.Errorf("%s: the image of %s is %q", name, c.Name, c.Image)
		}
		for _, m := range c.VolumeMounts {
			if !sources[m.Name] {
				t.Errorf("%s: %s mounts %s, which isn't there", name, c.Name, m.Name)
			}
		}
		registers = registers || strings.HasSuffix(c.Name, "registrar") && strings.Contains(dsfacts.Text(c), provisioner+`\\`)
	}
	if !registers {
		t.Errorf("%s: no container registers %s", name, provisioner)
	}
}

// toleratesWMCO tells whether a pod goes to nodes with the taint of WMCO's machines,
// os=Windows:NoSchedule.
func toleratesWMCO(spec *corev1.PodSpec) bool {
	taint := corev1.Taint{Key: "os", Value: "Windows", Effect: corev1.TaintEffectNoSchedule}
	return slices.ContainsFunc(spec.Tolerations, func(tol corev1.Toleration) bool {
		return (tol.Key == "" || tol.Key == taint.Key) && (tol.Effect == "" || tol.Effect == taint.Effect) &&
			(tol.Operator == corev1.TolerationOpExists || tol.Value == taint.Value)
	})
}
