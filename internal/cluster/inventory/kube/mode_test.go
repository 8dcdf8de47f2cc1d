package kube

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// smb is a driver's DaemonSet with more in its pod's spec.
func smb(spec string) string {
	return "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: smb, namespace: storage}\nspec:\n  template:\n    spec:\n      " +
		pods(strings.ReplaceAll(strings.Trim(spec, "\n"), "\n", "\n      "))
}

// pods gives a pod its driver, unless it brings one.
func pods(spec string) string {
	if strings.Contains(spec, "containers:") {
		return spec
	}
	return "containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0'}]\n      " + spec
}

func TestOperatingSystem(t *testing.T) {
	const affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
	for spec, want := range map[string]string{
		"nodeSelector: {kubernetes.io/os: windows}":                                                             "windows",
		"nodeSelector: {kubernetes.io/os: linux}":                                                               "linux",
		"nodeSelector: {beta.kubernetes.io/os: windows}":                                                        "windows",
		"nodeSelector: {node.kubernetes.io/windows-build: 10.0.20348}":                                          "windows",
		"os: {name: windows}":                                                                                   "windows",
		affinity + "[{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}]}}}":        "windows",
		affinity + "[{matchExpressions: [{key: kubernetes.io/os, operator: NotIn, values: [windows]}]}]}}}":     "linux",
		affinity + "[{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux, windows]}]}]}}}": "",
		affinity + "[{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}, {matchExpressions: [{key: type, operator: NotIn, values: [virtual-kubelet]}]}]}}}":          "",
		affinity + "[{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}, {matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}}":           "",
		"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}}]}}": "",
		"tolerations: [{key: os, operator: Equal, value: Windows, effect: NoSchedule}]":                                                                                                          "",
		"volumes: [{name: a, hostPath: {path: /var/lib/kubelet}}]":                                                  "",
		`volumes: [{name: a, hostPath: {path: 'C:\var\lib\kubelet'}}]`:                                              "windows",
		`volumes: [{name: a, hostPath: {path: '\var\lib\kubelet'}}]`:                                                "windows",
		`volumes: [{name: a, hostPath: {path: '\\.\pipe\csi-proxy-smb-v1'}}]`:                                       "windows",
		"securityContext: {windowsOptions: {hostProcess: true}}":                                                    "windows",
		"nodeSelector: {kubernetes.io/os: linux}\nvolumes: [{name: a, hostPath: {path: 'C:\\var\\lib'}}]":           "linux",
		"terminationGracePeriodSeconds: 30":                                                                         "",
		"containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', securityContext: {privileged: true}}]":  "linux",
		"containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', securityContext: {privileged: false}}]": "",
		"containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', volumeMounts: [{name: a, mountPath: /a, mountPropagation: Bidirectional}]}]\nvolumes: [{name: a, hostPath: {path: /var/lib/kubelet}}]":   "linux",
		"containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', volumeMounts: [{name: a, mountPath: /a, mountPropagation: HostToContainer}]}]\nvolumes: [{name: a, hostPath: {path: /var/lib/kubelet}}]": "",
		"nodeSelector: {kubernetes.io/os: windows}\ncontainers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', securityContext: {privileged: true}}]":                                                        "windows",
	} {
		if d := driver(t, smb(spec)); d.OS != want {
			t.Errorf("%s: %q, want %q", spec, d.OS, want)
		}
	}
}

func TestHostProcess(t *testing.T) {
	for spec, want := range map[string]bool{
		"securityContext: {windowsOptions: {hostProcess: true}}":  true,
		"securityContext: {windowsOptions: {hostProcess: false}}": false,
		"securityContext: {windowsOptions: {runAsUserName: x}}":   false,
		"terminationGracePeriodSeconds: 30":                       false,
	} {
		if d := driver(t, smb(spec)); d.HostProcess != want {
			t.Errorf("%s: %v", spec, d.HostProcess)
		}
	}
	container := "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: smb}\nspec: {template: {spec: {securityContext: {windowsOptions: {hostProcess: POD}}, containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', securityContext: {windowsOptions: {hostProcess: CT}}}]}}}"
	for _, over := range []string{"true", "false"} {
		pod := map[string]string{"true": "false", "false": "true"}[over]
		d := driver(t, strings.NewReplacer("POD", pod, "CT", over).Replace(container))
		if d.HostProcess != (over == "true") {
			t.Errorf("the pod says %s, the container %s: %v", pod, over, d.HostProcess)
		}
	}
}

func TestHostProcessFlag(t *testing.T) {
	for args, want := range map[string]string{
		`["--enable-windows-host-process"]`:                               "true",
		`["--enable-windows-host-process=true"]`:                          "true",
		`["--enable-windows-host-process=false"]`:                         "false",
		`["-windows-host-process=1"]`:                                     "true",
		`["--windows-host-process=true", "--windows-host-process=false"]`: "false",
		`["--enable-windows-host-process", "false"]`:                      "true",
		`["--enable-windows-host-processes=true"]`:                        "nil",
		`['& .\smb.exe --v=5 --enable-windows-host-process=true; exit']`:  "true",
		`["--v=5"]`: "nil",
	} {
		d := driver(t, set("node", "containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', args: "+args+"}]"))
		got := "nil"
		if d.HostProcessFlag != nil {
			got = map[bool]string{true: "true", false: "false"}[*d.HostProcessFlag]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// A driver ends at a flag that it doesn't know, and what something else puts
// into the arguments may be anything.
func TestHostProcessFlagOfADriver(t *testing.T) {
	cat := drivers()
	for i, flag := range map[int]string{0: "--enable-windows-host-process", 1: ""} {
		cat.Drivers[i].Lines = []catalog.Line{{From: "1.0.0"}, {From: "1.5.0", Flag: flag}}
	}
	const disk, vsphere, other = "kubernetes-csi/azuredisk-csi:v1.33.1", "csi-vsphere/driver:v3.5.0", "sig-storage/smbplugin:v1.18.0"
	for name, c := range map[string]struct{ image, args, foreign, reason string }{
		"its own":                  {disk, `["--enable-windows-host-process=true"]`, "", ""},
		"EBS'":                     {disk, `["--windows-host-process=true"]`, "--windows-host-process", ""},
		"both":                     {disk, `["--enable-windows-host-process=true", "-windows-host-process"]`, "--windows-host-process", ""},
		"of one that has none":     {vsphere, `["--enable-windows-host-process=true"]`, "--enable-windows-host-process", ""},
		"of one without lines":     {other, `["--windows-host-process=true"]`, "", ""},
		"from a ConfigMap":         {disk, `["--enable-windows-host-process=$(HP)"]`, "", "--enable-windows-host-process=$(HP)"},
		"from nowhere":             {disk, `["--enable-windows-host-process=$(NOBODY)"]`, "", "--enable-windows-host-process=$(NOBODY)"},
		"of PowerShell":            {disk, `['& azurediskplugin.exe --v=5 --enable-windows-host-process=$env:HP']`, "", "--enable-windows-host-process=$env:HP"},
		"a template":               {disk, `["--enable-windows-host-process={{.HP}}"]`, "", "--enable-windows-host-process={{.HP}}"},
		"a whole argument":         {disk, `["$(HP)"]`, "", "$(HP) may be the flag"},
		"another flag's value":     {disk, `["--endpoint=$(HP)"]`, "", ""},
		"a value that is put in":   {disk, `["--enable-windows-host-process=$(ON)"]`, "", ""},
		"beside an unset argument": {disk, `["--enable-windows-host-process", "$(HP)"]`, "", ""},
		"the word after a flag":    {disk, `["--metrics-address", "$(HP)", "-v", "$(NOBODY)"]`, "", ""},
		"after a joined flag":      {disk, `["--v=5", "$(NOBODY)"]`, "", "$(NOBODY) may be the flag"},
		"after a flag's value":     {disk, `["--nodeid", "$(NODE)", "$(HP)"]`, "", "$(HP) may be the flag"},
		"a field, a resource":      {disk, `["$(NODE)", "$(CPU)"]`, "", ""},
		"from a Secret":            {disk, `["$(HIDDEN)"]`, "", "$(HIDDEN) may be the flag"},
	} {
		d := collect(t, Options{Catalog: cat}, set("node", "containers: [{name: x, image: mirror/"+c.image+", args: "+c.args+
			", env: [{name: 'ON', value: 'true'}, {name: HP, valueFrom: {configMapKeyRef: {name: a, key: b}}}, {name: HIDDEN, valueFrom: {secretKeyRef: {name: a, key: b}}}, "+
			"{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}]")).Inventory().Drivers[0]
		if got := strings.Join(d.ForeignFlags, " "); got != c.foreign {
			t.Errorf("%s: another driver's flags %q, want %q", name, got, c.foreign)
		}
		if got := d.HostProcessFlagReason; !strings.HasPrefix(got, c.reason) || (got == "") != (c.reason == "") {
			t.Errorf("%s: %q, want %q", name, got, c.reason)
		}
		given := strings.Contains(c.args, "-host-process") && c.reason == "" && (c.foreign == "" || name == "both")
		if (d.HostProcessFlag != nil) != given {
			t.Errorf("%s: value %v", name, d.HostProcessFlag)
		}
	}
}

// Only what the driver's own container mounts reaches the driver, and only under
// the name that it dials.
func TestPipesOfTheDriver(t *testing.T) {
	d := driver(t, set("node", `
containers:
- {name: node-driver-registrar, image: x/y:v1.0.0, volumeMounts: [{name: other, mountPath: /x}]}
- {name: smb, image: 'x/sig-storage/smbplugin:v1.9.0', volumeMounts: [{name: smb, mountPath: '\\.\pipe\csi-proxy-smb-v1'}, {name: fs, mountPath: '\\.\PIPE\csi-proxy-Filesystem-v1'}, {name: moved, mountPath: '\\.\pipe\csi-proxy-disk-v1beta2'}]}
volumes:
- {name: smb, hostPath: {path: '\\.\pipe\csi-proxy-smb-v1'}}
- {name: fs, hostPath: {path: '\\.\pipe\csi-proxy-filesystem-v1'}}
- {name: other, hostPath: {path: '\\.\pipe\csi-proxy-disk-v1'}}
- {name: moved, hostPath: {path: '\\.\pipe\csi-proxy-volume-v1'}}
- {name: nobody, hostPath: {path: '\\.\pipe\csi-proxy-smb-v1beta1'}}
`))
	names := func(pipes []inventory.Pipe) (out []string) {
		for _, p := range pipes {
			out = append(out, strings.TrimSpace(p.Name()+" "+p.Container))
		}
		return out
	}
	if got := names(d.Pipes); !slices.Equal(got, []string{"filesystem-v1", "smb-v1"}) {
		t.Errorf("mounted: %v", got)
	}
	if got := names(d.Unmounted); !slices.Equal(got, []string{"disk-v1 node-driver-registrar", "smb-v1beta1", "volume-v1 smb"}) {
		t.Errorf("not mounted: %v", got)
	}
	if want := "DaemonSet storage/node spec.template.spec.volumes[1].hostPath.path"; d.Pipes[0].At.Where != want {
		t.Errorf("evidence %q, want %q", d.Pipes[0].At.Where, want)
	}
}

// A manifest that was cut off has mounts and no volumes.
func TestMountWithoutVolume(t *testing.T) {
	c := collect(t, Options{}, set("node", "containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.9.0', volumeMounts: [{name: smb, mountPath: /a}]}]"))
	if p := c.Inventory().Problems; len(p) != 1 || !strings.Contains(p[0].What, `mounts the volume "smb"`) {
		t.Errorf("problems %v", p)
	}
}

func TestMountedSocket(t *testing.T) {
	const spec = `securityContext: {windowsOptions: {hostProcess: HOST}}
containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', args: ['--endpoint=$(CSI_ENDPOINT)'], env: [{name: CSI_ENDPOINT, value: 'ADDRESS'}], volumeMounts: [{name: kubelet, mountPath: 'C:\var\lib\kubelet'}, {name: plugin, mountPath: 'C:\csi'}]}]
volumes: [{name: kubelet, hostPath: {path: '\var\lib\kubelet\'}}, {name: plugin, hostPath: {path: 'C:\var\lib\kubelet\plugins\smb.csi.k8s.io\'}}]`
	for endpoint, want := range map[string]string{
		`unix://C:\csi\csi.sock`:   `C:\csi`,
		`unix://C:\\csi\\csi.sock`: `C:\csi`,
		"unix:/csi/csi.sock":       `C:\csi`,
		`C:\csi\csi.sock`:          `C:\csi`,
		`unix://C:\var\lib\kubelet\plugins\smb.csi.k8s.io\csi.sock`: "",
		"unix:/csi-other/csi.sock":                                  "",
		"":                                                          "",
	} {
		for _, host := range []string{"true", "false"} {
			d := driver(t, smb(strings.NewReplacer("HOST", host, "ADDRESS", endpoint).Replace(spec)))
			if e := d.Paths.Endpoint; endpoint != "" && e.Mount != want {
				t.Errorf("%s, hostProcess %s: %q, want %q", endpoint, host, e.Mount, want)
			}
		}
	}
}
