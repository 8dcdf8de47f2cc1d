package kube

import (
	"fmt"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// What a container calls a path is followed through its mounts to the node.
func TestPaths(t *testing.T) {
	const spec = `securityContext: {windowsOptions: {hostProcess: HOST}}
containers:
- {name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', args: ['--endpoint=ENDPOINT'], volumeMounts: [{name: kubelet, mountPath: '\var\lib\kubelet'}, {name: plugin, mountPath: 'C:\csi'}]}
- {name: node-driver-registrar, image: 'x/csi-node-driver-registrar:v2.11.0', args: ['--csi-address=$(ADDRESS)', '--kubelet-registration-path=C:\\var\\lib\\kubelet\\plugins\\smb.csi.k8s.io\\csi.sock'FLAG], env: [{name: ADDRESS, value: 'ENDPOINT'}], volumeMounts: [{name: plugin, mountPath: /csi}, {name: registry, mountPath: /registration}, {name: empty, mountPath: /empty}]}
volumes: [{name: kubelet, hostPath: {path: '\var\lib\kubelet\', type: Directory}}, {name: plugin, hostPath: {path: 'C:\var\lib\kubelet\plugins\SMB.csi.k8s.io\'}}, {name: registry, hostPath: {path: 'D:\registry'}}, {name: empty, emptyDir: {}}]`
	const plugin = "c:/var/lib/kubelet/plugins/smb.csi.k8s.io"
	for _, c := range []struct{ host, endpoint, flag, driver, address, registry string }{
		{"false", `unix://C:\\csi\\csi.sock`, "", plugin + "/csi.sock", plugin + "/csi.sock", "d:/registry"},
		{"false", "unix:/csi/csi.sock", "", plugin + "/csi.sock", plugin + "/csi.sock", "d:/registry"},
		{"false", "/csi-other/csi.sock", `, '--plugin-registration-path=C:\other'`, "", "", ""},
		{"false", "unix:/empty/csi.sock", "", "", "", "d:/registry"},
		{"true", "unix:/empty/csi.sock", "", "c:/empty/csi.sock", "c:/empty/csi.sock", "d:/registry"},
		{"true", `unix://C:\var\lib\kubelet\plugins\smb.csi.k8s.io\csi.sock`, `, '--plugin-registration-path=C:\other\'`, plugin + "/csi.sock", plugin + "/csi.sock", "c:/other"},
		{"true", "unix:/csi/csi.sock", "", plugin + "/csi.sock", plugin + "/csi.sock", "d:/registry"},
		{"false", "tcp://127.0.0.1:10000", "", "none", "none", "d:/registry"},
		{"false", `npipe://\\.\pipe\csi`, "", "none", "none", "d:/registry"},
		{"false", "$(NOT_SET)", "", "none", "none", "d:/registry"},
	} {
		d := driver(t, smb(strings.NewReplacer("HOST", c.host, "ENDPOINT", c.endpoint, "FLAG", c.flag).Replace(spec)))
		node := func(p *inventory.Path) string {
			if p == nil {
				return "none"
			}
			return p.Node
		}
		p := d.Paths
		if node(p.Endpoint) != c.driver || node(p.Address) != c.address || node(p.Registry) != c.registry {
			t.Errorf("%s %s %s: %q, %q, %q", c.host, c.endpoint, c.flag, node(p.Endpoint), node(p.Address), node(p.Registry))
		}
		if node(p.Registered) != plugin+"/csi.sock" || node(p.Root) != inventory.KubeletRoot || len(p.Needed) != 1 || p.Needed[0].Node != inventory.KubeletRoot {
			t.Errorf("%+v", p)
		}
	}
}

// The same DaemonSet in two files is the same; one whose paths are others isn't.
func TestCopiesOfPaths(t *testing.T) {
	const spec = `containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', args: ['--endpoint=unix:/csi/csi.sock'], volumeMounts: [{name: plugin, mountPath: /csi}]}]
nodeSelector: {kubernetes.io/os: windows}
volumes: [{name: plugin, hostPath: {path: 'C:\a'}}]`
	for second, want := range map[string]int{spec: 0, strings.Replace(spec, `C:\a`, `C:\b`, 1): 1} {
		c := NewCollector(Options{Catalog: drivers()})
		for i, text := range []string{spec, second} {
			decode := func(into any) error { return sigsyaml.Unmarshal([]byte(smb(text)), into) }
			if err := c.Add("apps/v1", "DaemonSet", decode, func(...any) string { return fmt.Sprintf("%d.yaml:1", i) }); err != nil {
				t.Fatal(err)
			}
		}
		if problems := c.Inventory().Problems; len(problems) != want {
			t.Errorf("%s: %v", second, problems)
		}
	}
}
