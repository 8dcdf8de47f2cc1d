//go:build e2e

package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// genericPins are a payload for nodes without an operator: csi-proxy and the CNI
// plugins as they are baked, a service in the kubelet's and containerd's place.
// Nobody declares containerd's service: the plugin does.
const genericPins = `apiVersion: winbake.dev/v1
release: "4.20"
go: "1.26.8"
components:
%sservices:
  - name: csi-proxy
    component: csi-proxy
  - name: kubelet
    component: kubelet
    priority: 2
    args: ['--config=C:\k\kubelet.conf', --windows-service]
    dependencies: [csi-proxy]
    logDirectory: 'C:\var\log\kubelet'
`

// genericPayload bakes it and returns its layout.
func genericPayload(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := tools(t).bake("--only", components, "--format", "flat", "--dir", filepath.Join(dir, "files")); err != nil {
		t.Fatal(err)
	}
	double, err := os.ReadFile(filepath.Join(tools(t).dir, "service.exe"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "service.exe"), double, 0o600); err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, c := range []struct{ name, from, payload, install string }{
		{"csi-proxy", "files/csi-proxy/csi-proxy.exe", "csi-proxy/csi-proxy.exe", `C:\k\csi-proxy.exe`},
		{"win-bridge", "files/cni/win-bridge.exe", "cni/win-bridge.exe", `C:\k\cni\win-bridge.exe`},
		{"containerd-config", "files/containerd/containerd_conf.toml", "containerd/containerd_conf.toml", `C:\k\containerd\containerd_conf.toml`},
		{"containerd", "service.exe", "containerd/containerd.exe", `C:\k\containerd\containerd.exe`},
		{"kubelet", "service.exe", "kube-node/kubelet.exe", `C:\k\kubelet.exe`},
	} {
		data, err := os.ReadFile(filepath.Join(dir, c.from))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "  - name: %s\n    file: %s\n    sha256: %x\n    payload: %s\n    install: '%s'\n", c.name, c.from, sha256.Sum256(data), c.payload, c.install)
	}
	pins := filepath.Join(dir, "versions.yaml")
	if err := os.WriteFile(pins, fmt.Appendf(nil, genericPins, list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	layout := filepath.Join(dir, "layout")
	for _, args := range [][]string{{"lock", "-f", pins}, {"payload", "-f", pins, "--with-verify", "--layout", layout}} {
		if err := tools(t).run(args...); err != nil {
			t.Fatal(err)
		}
	}
	return layout
}

// TestGenericImage: for kubeadm or another operator, every service is there and
// runs, and nothing objects to a container runtime. Wine keeps no recovery
// actions: that they are asked for is package image's test, that Windows takes
// them the pipeline's of docs/windows-truth.md.
func TestGenericImage(t *testing.T) {
	t.Parallel()
	b, v := templated(t, "vsphere-clone", "--payload", genericPayload(t), "--profile", "generic")
	out := b.must()
	if m := v.machine("golden-1"); !m.Template {
		t.Errorf("%+v\n%s", m, out)
	}
	m := b.manifest("golden-1.node.json")
	if m.Content.Profile != "generic" || len(m.Content.Files) != 5 {
		t.Errorf("the manifest holds %+v", m.Content)
	}
	want := map[string]string{
		"csi-proxy":  `C:\k\csi-proxy.exe `,
		"kubelet":    `C:\k\kubelet.exe --config=C:\k\kubelet.conf --windows-service`,
		"containerd": `C:\k\containerd\containerd.exe --config C:\k\containerd\containerd_conf.toml --log-file C:\var\log\containerd\containerd.log --run-service`,
	}
	for _, s := range m.Content.Services {
		if s.Command == nil || s.Start == nil || s.State == nil || want[s.Name] == "" || !strings.HasPrefix(*s.Command, want[s.Name]) || *s.Start != "automatic" || *s.State != "running" {
			t.Errorf("the service is %s: %v, %v, %v", s.Name, s.Command, s.Start, s.State)
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no service %v", want)
	}
	for _, program := range []string{"csi-proxy.exe", "kubelet.exe", "containerd.exe"} {
		if p, err := b.node.Processes(program); err != nil || len(p) != 1 {
			t.Errorf("%s runs as %v, %v", program, p, err)
		}
	}
	if _, err := os.Stat(b.place(`C:\var\log\containerd`)); err != nil {
		t.Error(err)
	}
	wanted := slices.DeleteFunc(slices.Clone(scripts), func(s string) bool { return s == "no-runtime" })
	if ran := b.ran(); !slices.Equal(ran, slices.Insert(wanted, slices.Index(wanted, "node-settings"), "cluster-api")) {
		t.Errorf("the scripts ran as %v", ran)
	}
	b.accepted(m)
	b.leftNothing()
}
