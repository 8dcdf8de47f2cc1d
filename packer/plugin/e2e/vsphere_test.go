//go:build e2e

package e2e

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/plugin/internal/record"
	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/winenode"
)

// vsphere is Packer's plugin for it.
func vsphere(t *testing.T) packer.Tool {
	t.Helper()
	for _, p := range packer.Plugins {
		if p.Name == "packer-plugin-vsphere" {
			return p
		}
	}
	t.Fatal("package packer has no plugin for vSphere")
	return packer.Tool{}
}

// guest is a Wine node whose shutdown.exe writes down its calls, in file.
func guest(t *testing.T) (n *winenode.Node, file string) {
	t.Helper()
	n = winenode.Start(t, winenode.Options{})
	exe := filepath.Join(t.TempDir(), "shutdown.exe")
	cmd := exec.Command("go", "build", "-o", exe, "./shutdown")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	// Wine prefers its own to one in its place; cmd.exe looks in the folder first.
	n.Put(t, exe, n.Home()+`\shutdown.exe`)
	file, err := n.Path(`C:\winenode\shutdown.txt`)
	if err != nil {
		t.Fatal(err)
	}
	return n, file
}

// small is the build of testdata/vsphere.pkr.hcl.
func small(t *testing.T) (*build, *vcenter) {
	t.Helper()
	n, file := guest(t)
	v := newVCenter(t, file)
	b := newBuild(t, packer.Packers[0], n, vsphere(t))
	b.use("vsphere.pkr.hcl")
	m := tools(t)
	_, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	b.vars = map[string]string{"vcenter": v.Addr, "payload": m.layout, "digest": m.digest, "port": port, "password": n.Password, "accept": `["WIN004"]`}
	return b, v
}

// bound is what the post-processor wrote.
func (b *build) bound(name string) *record.Bound {
	b.t.Helper()
	var bound record.Bound
	if err := json.Unmarshal(b.read(name), &bound); err != nil {
		b.t.Fatal(err)
	}
	return &bound
}

func TestVSphereClone(t *testing.T) {
	b, v := small(t)
	out := b.must()
	if all := v.machines(); !all["golden"] || len(all) != 2 {
		t.Errorf("vCenter has the machines %v\n%s", all, out)
	}
	m := b.manifest("windows.node.json")
	b.matches(m)
	b.leftNothing()
	bound := b.bound("windows.winbake.json")
	if bound.Subject.Digest != m.Digest || bound.Subject.Payload != tools(t).digest || bound.Artifact.Builder != "jetbrains.vsphere" || bound.Artifact.ID != "golden" {
		t.Errorf("the post-processor bound %+v to %+v", bound.Subject, bound.Artifact)
	}
	if calls := v.shutdowns(); len(calls) != 1 || !strings.HasPrefix(calls[0], "/s") {
		t.Errorf("the machine was shut down by %v", calls)
	}
}
