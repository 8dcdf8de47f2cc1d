package image

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/imagecheck"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/payload/verify"
)

// profiled makes of what the payload says what a machine of this profile
// should be.
func profiled(e *node.Expectation, profile, where string) error {
	if !slices.ContainsFunc(e.Services, func(s node.Service) bool { return s.IsCSIProxy() }) && program(e, "csi-proxy.exe") != "" {
		// Every csi-proxy since v1.0.0 serves these pipes
		// (https://github.com/kubernetes-csi/csi-proxy/tree/v1.0.0/client/api).
		proxy := winsvc.CSIProxy("disk-v1", "filesystem-v1", "smb-v1", "volume-v1")
		e.Services = append(e.Services, node.Service{Service: proxy, Log: `C:\var\log\csi-proxy\csi-proxy.log`})
	}
	if profile == imagecheck.Generic {
		generic(e)
		return nil
	}
	e.Services = slices.DeleteFunc(e.Services, func(s node.Service) bool { return !s.IsCSIProxy() })
	want := winsvc.CSIProxy()
	for _, s := range e.Services {
		if s.Name != want.Name || !node.SamePath(s.Path, want.Path) {
			return &fault.Error{Where: where, What: fmt.Sprintf("the payload's csi-proxy is the service %s, %s: on OpenShift it would fight the operator's own, which is %s, %s", s.Name, s.Path, want.Name, want.Path),
				Fix: "in versions.yaml, name the service " + want.Name + " and install its component as '" + want.Path + "'"}
		}
	}
	return nil
}

// generic gives every service recovery actions, and containerd a definition
// where the payload has none: nobody else brings one.
func generic(e *node.Expectation) {
	recovery := winsvc.CSIProxy().Recovery
	if path := program(e, "containerd.exe"); path != "" && !slices.ContainsFunc(e.Services, func(s node.Service) bool { return s.Name == "containerd" }) {
		e.Services = append(e.Services, containerd(path, program(e, "containerd_conf.toml")))
	}
	for i := range e.Services {
		if len(e.Services[i].Recovery.Actions) == 0 {
			e.Services[i].Recovery = recovery
		}
	}
}

// containerd is the service as WMCO runs it (pkg/services/services.go of
// https://github.com/openshift/windows-machine-config-operator).
func containerd(path, config string) node.Service {
	s := winsvc.Service{
		Name: "containerd", Display: "containerd", Component: "containerd", Path: path, Start: winsvc.StartAutomatic,
		LogDirectory: `C:\var\log\containerd`,
	}
	if config != "" {
		s.Arguments = []string{"--config", config}
	}
	s.Arguments = append(s.Arguments, "--log-file", `C:\var\log\containerd\containerd.log`, "--run-service", "--log-level", "info")
	return node.Service{Service: s}
}

// program is where a file of this name goes, "" for none.
func program(e *node.Expectation, base string) string {
	for _, f := range e.Files {
		if strings.EqualFold(node.Base(f.Path), base) {
			return f.Path
		}
	}
	return ""
}

// places are where WMCO puts the folders of its payload on a node
// (pkg/windows/windows.go of
// https://github.com/openshift/windows-machine-config-operator, the same from
// 7.2.0 to 11.0).
var places = map[string]string{
	".":                `C:\k`,
	"cni":              `C:\k\cni`,
	"containerd":       `C:\k\containerd`,
	"csi-proxy":        `C:\k`,
	"kube-node":        `C:\k`,
	"powershell":       `C:\Temp`,
	"windows-exporter": `C:\k`,
}

// exporterConfig has a place of its own.
const exporterConfig = "windows-exporter/windows-exporter-webconfig.yaml"

// place is where WMCO puts a file of its payload; false for one that it isn't
// known to have.
func place(file string) (string, bool) {
	if file == exporterConfig {
		return `C:\k\tls\windows-exporter-webconfig.yaml`, true
	}
	dir, known := places[path.Dir(file)]
	return dir + `\` + path.Base(file), known
}

// stock is what a node with one of WMCO's own images should be: its files where WMCO
// puts them, since the image says nothing of that.
func stock(reference string) deploy.Otherwise {
	return func(files []verify.File) (*node.Expectation, error) {
		e := &node.Expectation{APIVersion: node.APIVersion, Files: []node.File{}, Services: []node.Service{}}
		for _, f := range files {
			where, known := place(f.Path)
			if !known {
				return nil, &fault.Error{Where: reference + " /payload/" + f.Path, What: "the image doesn't say where this file goes on a node, and the Windows Machine Config Operator has no such file",
					Fix: "make a payload with services, which carries a node.json: bake payload"}
			}
			e.Files = append(e.Files, node.File{Component: strings.TrimSuffix(path.Base(f.Path), ".exe"), Path: where, Payload: f.Path, SHA256: f.SHA256, Size: f.Size})
		}
		if len(e.Files) == 0 {
			return nil, &fault.Error{Where: reference, What: "the image has no files in /payload", Fix: "name a payload image, or one of the Windows Machine Config Operator's"}
		}
		return e, nil
	}
}
