package kube

import (
	"fmt"
	"strings"
	"testing"
)

// set writes a DaemonSet on Windows around the YAML of its containers and
// volumes.
func set(name, spec string) string {
	return "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: " + name + ", namespace: storage}\n" +
		"spec:\n  template:\n    spec:\n      nodeSelector: {kubernetes.io/os: windows}\n" +
		strings.ReplaceAll("\n"+strings.Trim(spec, "\n"), "\n", "\n      ")
}

// registrar is a pod of a driver whose registrar is started as given.
func registrar(start string) string {
	return set("node", `
containers:
- name: registrar
  image: mirror/csi-node-driver-registrar:v2.9.0
`+"  "+strings.ReplaceAll(strings.Trim(start, "\n"), "\n", "\n  ")+`
- name: plugin
  image: mirror/driver:v9.8.7
`)
}

func TestRegistrationPaths(t *testing.T) {
	const disk = "disk.csi.azure.com"
	for name, c := range map[string]struct{ start, want string }{
		"joined":              {`args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']`, disk},
		"two words":           {`args: ["--v=2", "--kubelet-registration-path", 'C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']`, disk},
		"one dash":            {`args: ['-kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']`, disk},
		"in command":          {`command: [csi-node-driver-registrar.exe, '--kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']`, disk},
		"double backslashes":  {`args: ['--kubelet-registration-path=C:\\var\\lib\\kubelet\\plugins\\disk.csi.azure.com\\csi.sock']`, disk},
		"four backslashes":    {`args: ['--kubelet-registration-path=C:\\\\var\\\\lib\\\\kubelet\\\\plugins\\\\disk.csi.azure.com\\\\csi.sock']`, disk},
		"forward slashes":     {`args: ["--kubelet-registration-path=C:/var/lib/kubelet/plugins/disk.csi.azure.com/csi.sock"]`, disk},
		"no drive":            {`args: ['--kubelet-registration-path=\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']`, disk},
		"mixed case":          {`args: ['--kubelet-registration-path=c:\Var\Lib\Kubelet\Plugins\Disk.CSI.Azure.Com\csi.sock']`, disk},
		"mixed slashes":       {`args: ['--kubelet-registration-path=C:\var\lib/kubelet/plugins\disk.csi.azure.com/csi.sock']`, disk},
		"unix scheme":         {`args: ['--kubelet-registration-path=unix://C:\\var\\lib\\kubelet\\plugins\\disk.csi.azure.com\\csi.sock']`, disk},
		"variable":            {"args: [\"--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)\"]\nenv: [{name: DRIVER_REG_SOCK_PATH, value: 'C:\\var\\lib\\kubelet\\plugins\\disk.csi.azure.com\\csi.sock'}]", disk},
		"variable in another": {"args: [\"--kubelet-registration-path=$(SOCK)\"]\nenv: [{name: DIR, value: 'C:\\var\\lib\\kubelet\\plugins\\disk.csi.azure.com'}, {name: SOCK, value: '$(DIR)\\csi.sock'}]", disk},
		"part of a variable":  {"args: ['--kubelet-registration-path=$(KUBELET)\\plugins\\disk.csi.azure.com\\csi.sock']", disk},
		"environment alone":   {"env: [{name: DRIVER_REG_SOCK_PATH, value: '/var/lib/kubelet/plugins/disk.csi.azure.com/csi.sock'}]", disk},
		"cmd /c":              {`command: [cmd, /c, 'csi-node-driver-registrar.exe --v=5 --kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']`, disk},
		"cmd variable":        {"command: [cmd, /c, 'registrar.exe --kubelet-registration-path=%SOCK% --v=5']\nenv: [{name: SOCK, value: 'C:\\var\\lib\\kubelet\\plugins\\disk.csi.azure.com\\csi.sock'}]", disk},
		"PowerShell":          {"command: [powershell.exe, -c, '& .\\registrar.exe --kubelet-registration-path=$env:SOCK --v=5']\nenv: [{name: SOCK, value: 'C:\\var\\lib\\kubelet\\plugins\\disk.csi.azure.com\\csi.sock'}]", disk},
		"shell script":        {"command: [/bin/sh, -c]\nargs:\n- |\n  set -e\n  exec /csi-node-driver-registrar --kubelet-registration-path \"/var/lib/kubelet/plugins/disk.csi.azure.com/csi.sock\"", disk},
		"quoted value":        {`args: ['--kubelet-registration-path="C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock"']`, disk},
		"another root":        {`args: ['--kubelet-registration-path=D:\k0s\kubelet\plugins\disk.csi.azure.com\csi.sock']`, disk},
		"no plugins folder":   {`args: ['--kubelet-registration-path=C:\csi\disk.csi.azure.com\csi.sock']`, disk},
		"alias":               {`args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\csi-secrets-store\csi.sock']`, "secrets-store.csi.k8s.io"},
		"unknown driver":      {`args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\Block.CSI.Example.com\csi.sock']`, "block.csi.example.com"},
		"unknown folder":      {`args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\blocks\csi.sock']`, "blocks"},
	} {
		if d := driver(t, registrar(c.start)); d.Provisioner != c.want {
			t.Errorf("%s: %q, want %q", name, d.Provisioner, c.want)
		}
	}
}

func TestIdentifyWithoutPath(t *testing.T) {
	for name, c := range map[string]struct{ set, want, line string }{
		"host folder": {set("node", `
containers:
- {name: node-driver-registrar, image: x/y:v1.0.0, args: ["--kubelet-registration-path=$(UNSET)"]}
- {name: plugin, image: mirror/driver:v1.2.3}
volumes:
- {name: a, hostPath: {path: 'C:\var\lib\kubelet\plugins\kubernetes.io\csi'}}
- {name: b, hostPath: {path: 'C:\var\lib\kubelet\plugins_registry\'}}
- {name: c, hostPath: {path: 'C:\var\lib\kubelet\plugins\smb.csi.k8s.io\'}}
`), "smb.csi.k8s.io", "smb"},
		"endpoint": {set("node", `
containers:
- {name: plugin, image: mirror/driver:v1.2.3, args: ['--endpoint=unix://C:\\var\\lib\\kubelet\\plugins\\smb.csi.k8s.io\\csi.sock']}
`), "smb.csi.k8s.io", "smb"},
		"driver's own name": {set("node", `
containers:
- {name: node-driver-registrar, image: x/csi-node-driver-registrar:v1.0.0}
- {name: plugin, image: mirror/driver:v1.2.3, args: ["--drivername=smb2.csi.k8s.io"]}
`), "smb2.csi.k8s.io", ""},
		"image": {set("node", `
containers:
- {name: a, image: x/node-driver-registrar:v1.0.0}
- {name: b, image: "mirror.example:5000/proxy/registry.k8s.io/csi-vsphere/driver:v3.3.0"}
`), "csi.vsphere.vmware.com", "vsphere"},
		"image without registrar": {set("node", `
containers:
- {name: b, image: "mirror.example:5000/csi-vsphere/driver@sha256:`+strings.Repeat("0", 64)+`"}
`), "csi.vsphere.vmware.com", "vsphere"},
		"name of the DaemonSet": {set("csi-azuredisk-node-win", `
containers:
- {name: b, image: "mirror.example:5000/renamed:v1.30.0"}
`), "disk.csi.azure.com", "azure-disk"},
		"a registrar and nothing else": {set("node", `
containers:
- {name: a, image: x/node-driver-registrar:v1.0.0}
- {name: b, image: "mirror.example:5000/renamed:v1.30.0"}
`), "", ""},
		"the driver's own name beats the path": {set("node", `
containers:
- {name: a, image: x/node-driver-registrar:v1.0.0, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock', --driver-name=a.example.com]}
- {name: b, image: "mcr/k8s/csi/azuredisk-csi:v1.30.0", args: [--drivername=disk2.csi.azure.com]}
`), "disk2.csi.azure.com", ""},
		"a name that isn't in the manifest": {set("node", `
containers:
- {name: a, image: x/node-driver-registrar:v1.0.0, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']}
- {name: b, image: "mirror/driver:v1.30.0", args: ["--drivername=$(NAME)"]}
`), "disk.csi.azure.com", "azure-disk"},
		"two names": {set("node", `
containers:
- {name: a, image: x/node-driver-registrar:v1.0.0, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\smb.csi.k8s.io\csi.sock']}
- {name: b, image: "mirror/driver:v1.30.0", args: [--drivername=disk.csi.azure.com]}
- {name: c, image: "mirror/other:v1.18.0", args: [--drivername=smb.csi.k8s.io]}
`), "smb.csi.k8s.io", "smb"},
		"a registrar that restarts before the others": {set("node", `
initContainers:
- {name: once, image: x/setup:v1.0.0, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\disk.csi.azure.com\csi.sock']}
- {name: node-driver-registrar, image: x/y:v1.0.0, restartPolicy: Always, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\smb.csi.k8s.io\csi.sock']}
containers:
- {name: b, image: "mirror/driver:v1.30.0"}
`), "smb.csi.k8s.io", "smb"},
		"the path beats the image": {set("node", `
containers:
- {name: a, image: x/node-driver-registrar:v1.0.0, args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\disk2.csi.azure.com\csi.sock']}
- {name: b, image: "mcr/k8s/csi/azuredisk-csi:v1.30.0"}
`), "disk2.csi.azure.com", ""},
	} {
		if d := driver(t, c.set); d.Provisioner != c.want || d.Line != c.line {
			t.Errorf("%s: %q (%s), want %q (%s)", name, d.Provisioner, d.Line, c.want, c.line)
		}
	}
}

func TestSetAside(t *testing.T) {
	for want, spec := range map[string]string{
		"registers no CSI driver, and no image": `containers: [{name: a, image: "x/kube-proxy:v1.30.0"}]`,
		"csi-proxy's pipes": `
containers: [{name: a, image: "x/backup:v1.0.0", volumeMounts: [{name: p, mountPath: /p}]}]
volumes: [{name: p, hostPath: {path: '\\.\pipe\csi-proxy-disk-v1'}}]`,
		"mounts the plugin folder disk.csi.azure.com": `
containers: [{name: a, image: "x/backup:v1.0.0", volumeMounts: [{name: p, mountPath: /p}]}]
volumes: [{name: p, hostPath: {path: 'C:\var\lib\kubelet\plugins\disk.csi.azure.com'}}]`,
	} {
		inv := collect(t, Options{}, set("other", spec)).Inventory()
		if len(inv.Drivers) != 0 || len(inv.SetAside) != 1 || !strings.Contains(inv.SetAside[0].Reason, want) {
			t.Errorf("drivers %v, set aside %v; want %q", inv.Drivers, inv.SetAside, want)
		}
	}
}

func TestDriverContainer(t *testing.T) {
	path := `args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\%s\csi.sock']`
	for name, c := range map[string]struct{ provisioner, containers, want string }{
		"registrar first": {"csi.vsphere.vmware.com", `
- {name: vsphere-csi-node, image: "a/renamed:v3.3.0"}
- {name: liveness-probe, image: "a/livenessprobe:v2.9.0"}`, "vsphere-csi-node"},
		"probe without its name": {"block.example.com", `
- {name: health, image: "a/renamed:v2.9.0", args: ["--csi-address=x", "--health-port=9808"]}
- {name: plugin, image: "a/other:v1.0.0"}`, "plugin"},
		"by endpoint": {"block.example.com", `
- {name: helper, image: "a/helper:v2.9.0"}
- {name: plugin, image: "a/other:v1.0.0", env: [{name: CSI_ENDPOINT, value: 'unix://C:\csi\csi.sock'}]}`, "plugin"},
		"by the socket of another framework": {"block.example.com", `
- {name: csi-driver, image: "a/other:v1.0.0", args: [--csi-name=block.example.com, --csi-mode=node, '--server-socket=//./pipe/x/block.example.com/csi.sock']}
- {name: csi-proxy, image: "a/csi-grpc-proxy:v0.5.7", env: [{name: BIND_TO, value: 'unix:///var/lib/kubelet/plugins/block.example.com/csi.sock'}]}`, "csi-driver"},
		"by image": {"smb.csi.k8s.io", `
- {name: helper, image: "a/helper:v2.9.0"}
- {name: x, image: "a/sig-storage/smbplugin:v1.0.0"}`, "x"},
		"can't be told": {"block.example.com", `
- {name: one, image: "a/helper:v2.9.0"}
- {name: two, image: "a/other:v1.0.0"}`, ""},
		"can't be told by the endpoint": {"block.example.com", `
- {name: one, image: "a/helper:v2.9.0", env: [{name: CSI_ENDPOINT, value: 'unix://C:\csi\csi.sock'}]}
- {name: two, image: "a/other:v1.0.0", args: ["--endpoint=$(CSI_ENDPOINT)"], env: [{name: CSI_ENDPOINT, value: 'unix://C:\csi\csi.sock'}]}`, ""},
		"can't be told by the image": {"smb.csi.k8s.io", `
- {name: one, image: "a/sig-storage/smbplugin:v1.0.0"}
- {name: two, image: "a/sig-storage/smbplugin:v1.18.0"}`, ""},
		"two that mount other things": {"smb.csi.k8s.io", `
- {name: one, image: "a/sig-storage/smbplugin:v1.0.0"}
- {name: two, image: "a/sig-storage/smbplugin:v1.0.0", volumeMounts: [{name: x, mountPath: /x}]}`, ""},
		"two of a kind": {"smb.csi.k8s.io", `
- {name: one, image: "a/sig-storage/smbplugin:v1.0.0"}
- {name: two, image: "a/sig-storage/smbplugin:v1.0.0"}`, "one"},
	} {
		d := driver(t, set("node", "initContainers: [{name: init, image: 'a/sig-storage/smbplugin:v0.1.0'}]\ncontainers:\n- {name: reg, image: 'a/csi-node-driver-registrar:v2.0.0', "+
			fmt.Sprintf(path, c.provisioner)+"}"+c.containers))
		if d.Container != c.want || d.Version.Known != (c.want != "") {
			t.Errorf("%s: container %q, version %+v; want %q", name, d.Container, d.Version, c.want)
		}
	}
}

// A registrar that is called one is no driver, even alone in its pod: the
// version of the one isn't that of the other.
func TestNoDriverContainer(t *testing.T) {
	const path = `args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\csi.vsphere.vmware.com\csi.sock']`
	for spec, want := range map[string]string{
		"containers: [{name: driver-registrar, image: 'a/renamed:v2.16.0', " + path + "}]":                                                             "there are only sidecars",
		"containers: [{name: a, image: 'a/csi-node-driver-registrar:v2.16.0', " + path + "}]":                                                          "there are only sidecars",
		"containers: [{name: a, image: 'a/csi-node-driver-registrar:v2.16.0', " + path + "}, {name: liveness-probe, image: 'a/livenessprobe:v2.9.0'}]": "there are only sidecars",
		"containers: [{name: a, image: 'a/driver:v2.16.0', " + path + "}]":                                                                             "",
	} {
		d := driver(t, set("node", spec))
		if d.Version.Known != (want == "") || !strings.Contains(d.Version.Reason, want) {
			t.Errorf("%s: %+v, want %q", spec, d.Version, want)
		}
	}
}

// A path that was copied with the manifest makes no other driver of an image;
// a name that the driver is given makes one of any path.
func TestPathAgainstImage(t *testing.T) {
	const pod = `
containers:
- {name: registrar, image: 'a/csi-node-driver-registrar:v2.0.0', args: ['--kubelet-registration-path=C:\var\lib\kubelet\plugins\PATH\csi.sock']}
- {name: driver, image: 'a/IMAGE:v1.0.0', args: [NAME]}`
	for name, c := range map[string]struct{ path, image, flag, want string }{
		"they agree":               {"smb.csi.k8s.io", "sig-storage/smbplugin", "--v=5", ""},
		"another driver's image":   {"smb.csi.k8s.io", "kubernetes-csi/azuredisk-csi", "--v=5", "smb.csi.k8s.io by its paths or arguments and disk.csi.azure.com by its image; it was judged as disk.csi.azure.com"},
		"another driver's name":    {"disk.csi.azure.com", "kubernetes-csi/azuredisk-csi", "--drivername=smb.csi.k8s.io", "disk.csi.azure.com by its image; it was judged as smb.csi.k8s.io"},
		"a name of its own":        {"disk.csi.azure.com", "kubernetes-csi/azuredisk-csi", "--drivername=disk2.csi.azure.com", ""},
		"an image that isn't told": {"smb.csi.k8s.io", "mirror/driver", "--v=5", ""},
	} {
		doc := set("node", strings.NewReplacer("PATH", c.path, "IMAGE", c.image, "NAME", c.flag).Replace(pod))
		got := ""
		for _, p := range collect(t, Options{}, doc, doc).Inventory().Problems {
			got += p.What
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
