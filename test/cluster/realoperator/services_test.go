//go:build operator

package realoperator

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/winbake/winbake/test/support/program"
)

// clouds are the platforms of Infrastructure by bake's names, with what the Machine
// Config Operator gives Linux kubelets as --cloud-provider there.
var clouds = []struct{ name, platform, provider string }{
	{"none", "None", ""},
	{"vsphere", "VSphere", "external"},
	{"aws", "AWS", "external"},
	{"azure", "Azure", "external"},
	{"gcp", "GCP", "external"},
	{"nutanix", "Nutanix", "external"},
}

// keepsServices holds the ConfigMaps that bake writes against the operator, which
// replaces one that isn't as its own. It ends on none, as it began.
func (o *operator) keepsServices(t *testing.T) {
	commands := &program.Folder{Commands: []string{"bake"}}
	for _, c := range append(clouds[1:], clouds[0]) {
		t.Run(c.name, func(t *testing.T) {
			o.move(t, c.platform, c.provider)
			cmd := commands.Command(t, "bake", "manifests", "windows-services", "-f", given(t, "PINS"), "--wmco-version", o.version,
				"--cloud", c.name, "--api-server", apiServer)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("bake manifests windows-services: %v", err)
			}
			if err := o.client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), o.services(t).Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			o.server.LoadText(t, string(out))
			before := o.services(t)
			o.comesUp(t)
			if after := o.services(t); after.UID != before.UID {
				t.Errorf("the operator replaced the ConfigMap:\n%s\nits own is\n%s", before.Data["services"], after.Data["services"])
			}
		})
	}
}

// move makes the cluster one on another platform.
func (o *operator) move(t *testing.T, platform, provider string) {
	t.Helper()
	client, err := dynamic.NewForConfig(o.server.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		resource schema.GroupVersionResource
		name     string
		patch    string
	}{
		{infrastructures.Resource, "cluster", fmt.Sprintf(`{"status": {"platformStatus": {"type": %q}}}`, platform)},
		{machineConfigs.Resource, "rendered-worker-1", fmt.Sprintf(`{"spec": {"config": {"systemd": {"units": [{"name": "kubelet.service", "contents": %q}]}}}}`,
			"[Service]\nExecStart=/usr/bin/kubelet \\\n  --cloud-provider="+provider+"\n\n")},
	} {
		if _, err := client.Resource(change.resource).Patch(t.Context(), change.name, types.MergePatchType, []byte(change.patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// services is the ConfigMap that the operator keeps.
func (o *operator) services(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	m, err := o.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "windows-services-"+o.version, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
