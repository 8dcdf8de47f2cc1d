package image

import (
	"context"
	"path"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/payload/verify"
)

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

// stock is what a node with one of WMCO's own images should be: its files
// where WMCO puts them. The image says nothing of that, so all of it is read.
func stock(ctx context.Context, source *ociimage.Source) (*node.Expectation, error) {
	problems, summary, err := verify.Check(ctx, source, verify.Options{})
	if err != nil {
		return nil, err
	}
	if fs := problemFindings(problems); finding.Worst(fs) >= finding.Unknown {
		return nil, failed(source.Reference(), fs)
	}
	if len(summary.Images) != 1 {
		return nil, &fault.Error{Where: source.Reference(), What: "the payload is for several platforms", Fix: "name the image for linux/amd64 by its own digest"}
	}
	e := &node.Expectation{APIVersion: node.APIVersion, Files: []node.File{}, Services: []node.Service{}}
	for _, f := range summary.Images[0].Files {
		where, known := place(f.Path)
		if !known {
			return nil, &fault.Error{Where: source.Reference() + " /payload/" + f.Path, What: "the image doesn't say where this file goes on a node, and the Windows Machine Config Operator has no such file",
				Fix: "bake a payload with services, which carries a node.json: bake payload"}
		}
		e.Files = append(e.Files, node.File{Component: strings.TrimSuffix(path.Base(f.Path), ".exe"), Path: where, Payload: f.Path, SHA256: f.SHA256, Size: f.Size})
	}
	if len(e.Files) == 0 {
		return nil, &fault.Error{Where: source.Reference(), What: "the image has no files in /payload", Fix: "name a payload image, or one of the Windows Machine Config Operator's"}
	}
	return e, nil
}
