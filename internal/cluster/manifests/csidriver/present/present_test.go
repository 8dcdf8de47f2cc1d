package present_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver/present"
)

func TestParse(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const ds = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec: {template: {spec: {nodeSelector: {kubernetes.io/os: %s}, containers: [{name: c, args: ['%s']}]}}}
`
	socket := `--kubelet-registration-path=C:\\var\\lib\\kubelet\\plugins\\%s\\csi.sock`
	windows := fmt.Sprintf(ds, "windows", fmt.Sprintf(socket, "ebs.csi.aws.com"))
	const labels = "nodeSelector: {kubernetes.io/os: windows}"
	affine := strings.ReplaceAll(windows, labels, "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}]}}}")
	build := strings.ReplaceAll(windows, labels, "nodeSelector: {node.kubernetes.io/windows-build: 10.0.20348}")
	linux := fmt.Sprintf(ds, "linux", "--kubelet-registration-path=/var/lib/kubelet/plugins/ebs.csi.aws.com/csi.sock")
	for text, driver := range map[string]string{
		windows:                                "aws-ebs",
		linux + "---\n" + windows:              "aws-ebs",
		affine:                                 "aws-ebs",
		build:                                  "aws-ebs",
		"# only this\n---\n" + windows:         "aws-ebs",
		strings.ReplaceAll(windows, `\\`, `\`): "aws-ebs",
		"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(windows), "\n", "\n  "): "aws-ebs",
	} {
		if old, err := present.Parse(cat, "old.yaml", []byte(text)); err != nil || old.Driver != driver {
			t.Errorf("%s: %+v, %v", text, old, err)
		}
	}
	for text, want := range map[string]string{
		"":    "no Windows DaemonSet",
		linux: "no Windows DaemonSet of a driver in it, among 1",
		fmt.Sprintf(ds, "windows", fmt.Sprintf(socket, "efs.csi.aws.com")): "no Windows DaemonSet",
		windows + "---\n" + windows:                                        "several Windows DaemonSets",
		"a: [":                                                             "can't be read",
		"kind: DaemonSet\nspec: 3\n":                                       "can't be read",
	} {
		_, err := present.Parse(cat, "old.yaml", []byte(text))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Fix == "" || f.Where != "old.yaml" || !strings.Contains(f.What, want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	cat, err := catalog.Load()
	if err != nil {
		f.Fatal(err)
	}
	folder, err := csidriver.Render(cat, csidriver.Options{Driver: "smb", For: version.OpenShift{Major: 4, Minor: 20, Patch: -1}})
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range folder.Files {
		f.Add(file.Data)
	}
	f.Add([]byte("kind: List\nitems: [{kind: DaemonSet}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		old, err := present.Parse(cat, "old.yaml", text)
		if err != nil {
			if _, ok := errors.AsType[*fault.Error](err); !ok {
				t.Errorf("no fault: %v", err)
			}
			return
		}
		old.OldVersion()
		folder.Compare(cat, old)
	})
}
