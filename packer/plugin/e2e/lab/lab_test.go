package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/vim25/types"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
)

// TestReport: each machine has a line, and what wasn't run is said once, behind
// them. Without a machine there is nothing to say.
func TestReport(t *testing.T) {
	server, err := vcenter.Start(t.Context(), &vcenter.Guest{Address: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	report := func() string {
		var b strings.Builder
		if err := (&lab{server: server}).report(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if said := report(); said != "" {
		t.Errorf("without a machine: %s", said)
	}
	client, err := govmomi.NewClient(t.Context(), &url.URL{Scheme: "https", Host: server.Addr, Path: "/sdk", User: url.UserPassword(vcenter.User, vcenter.Password)}, true)
	if err != nil {
		t.Fatal(err)
	}
	finder := find.NewFinder(client.Client)
	vm, err := finder.VirtualMachine(t.Context(), "/"+vcenter.Datacenter+"/vm/"+vcenter.Original)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := finder.Folder(t.Context(), "/"+vcenter.Datacenter+"/vm")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		task, err := vm.Clone(t.Context(), folder, name, types.VirtualMachineCloneSpec{Template: true})
		if err == nil {
			err = task.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := "lab: vCenter has one, a template\nlab: vCenter has two, a template\nlab: " + notRun + "\n"; report() != want {
		t.Errorf("have %q, want %q", report(), want)
	}
}
