//go:build e2e

package e2e

import (
	"net"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
	"github.com/winbake/winbake/test/packer"
)

// small is the build of testdata/vsphere.pkr.hcl.
func small(t testing.TB) (*build, *center) {
	t.Helper()
	n, v := site(t, setting{})
	b := newBuild(t, packer.Packers[0], n, packer.Plugin("vsphere"))
	b.use("vsphere.pkr.hcl")
	m := tools(t)
	_, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	b.vars = map[string]string{"vcenter": v.Addr, "payload": m.layout, "digest": m.digest, "port": port, "password": n.Password, "accept": vcenter.Accept()}
	return b, v
}

func TestVSphereClone(t *testing.T) {
	t.Parallel()
	b, v := small(t)
	out := b.must()
	if all := v.machines(); !all["golden"] || len(all) != 2 {
		t.Errorf("vCenter has the machines %v\n%s", all, out)
	}
	b.matches(b.manifest("windows.node.json"))
	b.leftNothing()
	if calls := v.guest.Shutdowns(); len(calls) != 1 || !strings.HasPrefix(calls[0], "/s") {
		t.Errorf("the machine was shut down by %v", calls)
	}
}
