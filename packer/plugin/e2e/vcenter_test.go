//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	_ "github.com/vmware/govmomi/vapi/simulator" // the plugin asks for tags and content libraries
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// vcenter is govmomi's simulator of vCenter. Its machines have one guest, a
// Wine node: what runs on it, and what it says of itself, is real; the machine
// below it isn't.
type vcenter struct {
	t      *testing.T
	model  *simulator.Model
	client *govmomi.Client
	find   *find.Finder
	// Addr is host:port.
	Addr string
	// calls is where the node's shutdown.exe writes down its calls.
	calls string
}

// original is the machine that is cloned. It's off.
const original = "DC0_H0_VM0"

// newVCenter starts a vCenter of one host and one machine that is off.
func newVCenter(t *testing.T, calls string) *vcenter {
	t.Helper()
	v := &vcenter{t: t, model: simulator.VPX(), calls: calls}
	v.model.Cluster, v.model.Machine = 0, 1
	if err := v.model.Create(); err != nil {
		t.Fatal(err)
	}
	v.model.Service.TLS = new(tls.Config)
	v.model.Service.RegisterEndpoints = true
	v.model.Service.Listen = &url.URL{Scheme: "https", Host: "127.0.0.1:0", User: url.UserPassword("user", "pass")}
	server := v.model.Service.NewServer()
	v.Addr = server.URL.Host
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var err error
	if v.client, err = govmomi.NewClient(ctx, server.URL, true); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-done
		server.Close()
		v.model.Remove()
	})
	v.find = find.NewFinder(v.client.Client)
	dc, err := v.find.DefaultDatacenter(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v.find.SetDatacenter(dc)
	v.prepare(ctx)
	go v.attend(ctx, done)
	return v
}

// prepare turns the original off and says that it is Windows Server 2022.
func (v *vcenter) prepare(ctx context.Context) {
	v.t.Helper()
	vm, err := v.find.VirtualMachine(ctx, original)
	if err != nil {
		v.t.Fatal(err)
	}
	v.wait(vm.PowerOff(ctx))
	v.wait(vm.Reconfigure(ctx, types.VirtualMachineConfigSpec{GuestId: "windows2019srvNext_64Guest"}))
}

func (v *vcenter) wait(task *object.Task, err error) {
	v.t.Helper()
	if err == nil {
		err = task.Wait(v.t.Context())
	}
	if err != nil {
		v.t.Fatal(err)
	}
}

// attend does what VMware Tools and the machine do: it tells the address of
// each machine that runs, which is the node's, and ends the machine when the
// node's shutdown.exe was told to.
func (v *vcenter) attend(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	seen := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		ended := v.shutdowns()
		stop := slices.ContainsFunc(ended[min(seen, len(ended)):], func(c string) bool { return strings.HasPrefix(c, "/s") })
		seen = len(ended)
		for _, e := range v.model.Map().All("VirtualMachine") {
			vm, ok := e.(*simulator.VirtualMachine)
			if !ok || vm.Runtime.PowerState != types.VirtualMachinePowerStatePoweredOn {
				continue
			}
			if stop {
				if task, err := object.NewVirtualMachine(v.client.Client, vm.Self).PowerOff(ctx); err == nil {
					_ = task.Wait(ctx) // the build says what it sees of it
				}
				continue
			}
			v.address(vm)
		}
	}
}

// address tells the guest's address, as VMware Tools do.
func (v *vcenter) address(vm *simulator.VirtualMachine) {
	const ip = "127.0.0.1"
	c := v.model.Service.Context
	c.WithLock(vm, func() {
		if len(vm.Guest.Net) == 0 || vm.Guest.Net[0].IpConfig != nil {
			return
		}
		nics := slices.Clone(vm.Guest.Net)
		nics[0].IpAddress = []string{ip}
		nics[0].IpConfig = &types.NetIpConfigInfo{IpAddress: []types.NetIpConfigInfoIpAddress{{IpAddress: ip, PrefixLength: 8, State: "preferred"}}}
		v.model.Map().Update(c, vm, []types.PropertyChange{{Name: "guest.net", Val: nics}, {Name: "guest.ipAddress", Val: ip}, {Name: "summary.guest.ipAddress", Val: ip}})
	})
}

// shutdowns are the calls of the node's shutdown.exe so far.
func (v *vcenter) shutdowns() []string {
	data, err := os.ReadFile(v.calls)
	if err != nil {
		return nil // none so far
	}
	var calls []string
	for line := range bytes.Lines(data) {
		calls = append(calls, strings.TrimSpace(string(line)))
	}
	return calls
}

// machines are the names of all machines, and whether each is a template.
func (v *vcenter) machines() map[string]bool {
	v.t.Helper()
	list, err := v.find.VirtualMachineList(v.t.Context(), "*")
	if err != nil {
		v.t.Fatal(err)
	}
	all := map[string]bool{}
	for _, vm := range list {
		var p mo.VirtualMachine
		if err := vm.Properties(v.t.Context(), vm.Reference(), []string{"config.template"}, &p); err != nil {
			v.t.Fatal(err)
		}
		all[vm.Name()] = p.Config.Template
	}
	return all
}

// onlyOriginal: a build that failed left no machine behind.
func (v *vcenter) onlyOriginal() {
	v.t.Helper()
	if all := v.machines(); len(all) != 1 || all[original] {
		v.t.Errorf("vCenter has the machines %v", all)
	}
}
