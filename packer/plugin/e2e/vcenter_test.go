//go:build e2e

package e2e

import (
	"cmp"
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
	"github.com/winbake/winbake/test/wine/winenode"
)

// original is the machine that is cloned.
const original = vcenter.Original

// center is a vCenter of a test, and the guest of its machines.
type center struct {
	*vcenter.Server
	t     testing.TB
	guest *vcenter.Guest
}

// setting is what a build is of, and in.
type setting struct {
	platform string
	address  string // of the guest, "" for 127.0.0.1
}

// site is a Wine node, and a vCenter whose machines have it for a guest.
func site(t testing.TB, in setting) (*winenode.Node, *center) {
	t.Helper()
	n := winenode.Start(t, winenode.Options{})
	g, err := vcenter.NewGuest(n, filepath.Join(tools(t).dir, "shutdown.exe"))
	if err != nil {
		t.Fatal(err)
	}
	g.Address = cmp.Or(in.address, g.Address)
	s, err := vcenter.Start(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return n, &center{Server: s, t: t, guest: g}
}

// machines are the names of all machines, and whether each is a template.
func (c *center) machines() map[string]bool {
	c.t.Helper()
	list, err := c.Machines(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range list {
		all[m.Name] = m.Template
	}
	return all
}

// machine is what vCenter says of one.
func (c *center) machine(name string) vcenter.Machine {
	c.t.Helper()
	list, err := c.Machines(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, m := range list {
		if m.Name == name {
			return m
		}
	}
	c.t.Fatalf("vCenter has no machine %s, but %v", name, list)
	return vcenter.Machine{}
}

// onlyOriginal: a build that failed left neither a machine nor a file behind.
func (c *center) onlyOriginal() {
	c.t.Helper()
	if all := c.machines(); len(all) != 1 || all[original] {
		c.t.Errorf("vCenter has the machines %v", all)
	}
	if files, err := c.Files(c.t.Context()); err != nil || len(files) > 0 {
		c.t.Errorf("the datastore has %v, %v", files, err)
	}
}
