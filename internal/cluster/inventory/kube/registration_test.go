package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// A command line of any kind must neither panic nor make a provisioner that
// can't be one.
func FuzzRegistration(f *testing.F) {
	for _, s := range []string{
		`--kubelet-registration-path=C:\var\lib\kubelet\plugins\a.b.c\csi.sock`, `cmd /c "x --kubelet-registration-path=$(S)"`,
		`--kubelet-registration-path=/plugins/`, `--kubelet-registration-path=\\.\pipe\csi-proxy-a-v1`, `--kubelet-registration-path %S% 'x`, "--kubelet-registration-path=plugins/x\x00y",
	} {
		f.Add(s, `C:\var\lib\kubelet\plugins\d.e.f\csi.sock`)
	}
	f.Fuzz(func(t *testing.T, arg, value string) {
		ct := corev1.Container{Name: "r", Args: []string{arg}, Env: []corev1.EnvVar{{Name: "S", Value: value}}}
		p := podTemplate{&corev1.PodSpec{Containers: []corev1.Container{ct}}, templateBase, ObjectLocator(inventory.Object{Kind: "DaemonSet", Namespace: "n", Name: "x"})}
		for _, c := range registrations(p, p.containers()) {
			if c.folder == "" || strings.ContainsAny(c.folder, `/\`) || c.at.Where == "" {
				t.Errorf("%q, %q: %+v", arg, value, c)
			}
		}
		if group, version, ok := podtext.ParsePipe(value); ok && (group == "" || !strings.HasPrefix(version, "v")) {
			t.Errorf("%q: %q %q", value, group, version)
		}
	})
}
