// Package vcenter is a vCenter for trying image builds where there is none:
// govmomi's simulator, whose machines all have one guest, a Wine node. What runs
// on the guest, and what it says of itself, is real; the machine below it isn't.
package vcenter

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	_ "github.com/vmware/govmomi/vapi/simulator" // the plugin asks for tags and content libraries
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"github.com/winbake/winbake/test/wine/winenode"
)

const (
	// User may log on, with Password.
	User = "user"
	// Password is User's.
	Password = "pass"
	// Datacenter is the one that there is.
	Datacenter = "DC0"
	// Host is its one ESXi host.
	Host = "DC0_H0"
	// Datastore is the host's.
	Datastore = "LocalDS_0"
	// Network is the host's.
	Network = "VM Network"
	// Original is a machine that is off, Windows Server 2022 by its id: what a
	// build clones.
	Original = "DC0_H0_VM0"
)

// Server is a running vCenter of one host and one machine.
type Server struct {
	// Addr is host:port, https with a certificate that nobody signed.
	Addr string

	model  *simulator.Model
	client *govmomi.Client
	find   *find.Finder
	guest  *Guest
	close  func()

	builder atomic.Value // what makes the machine: vsphere-iso or vsphere-clone
	mu      sync.Mutex
	onMedia []winenode.File // of the machine that was started
}

// Start starts one whose machines have this guest. The caller closes it.
func Start(ctx context.Context, guest *Guest) (*Server, error) {
	s := &Server{model: simulator.VPX(), guest: guest}
	s.model.Cluster, s.model.Machine = 0, 1
	if err := s.model.Create(); err != nil {
		return nil, fmt.Errorf("make a vCenter: %w", err)
	}
	s.model.Service.TLS = new(tls.Config)
	s.model.Service.RegisterEndpoints = true
	s.model.Service.Listen = &url.URL{Scheme: "https", Host: "127.0.0.1:0", User: url.UserPassword(User, Password)}
	server := s.model.Service.NewServer()
	s.model.Map().Handler = s.handle
	s.Addr = server.URL.Host
	// It outlives what ctx is cancelled for: a build removes its machine then.
	attending, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	s.close = func() {
		stop()
		<-done
		server.Close()
		s.model.Remove()
	}
	err := s.prepare(ctx, server.URL)
	if err != nil {
		close(done)
		s.close()
		return nil, fmt.Errorf("prepare a vCenter: %w", err)
	}
	go s.attend(attending, done)
	return s, nil
}

// Close ends it.
func (s *Server) Close() { s.close() }

// prepare turns the original off and says that it is Windows Server 2022.
func (s *Server) prepare(ctx context.Context, at *url.URL) (err error) {
	if s.client, err = govmomi.NewClient(context.WithoutCancel(ctx), at, true); err != nil {
		return err
	}
	s.find = find.NewFinder(s.client.Client)
	dc, err := s.find.DefaultDatacenter(ctx)
	if err != nil {
		return err
	}
	s.find.SetDatacenter(dc)
	vm, err := s.find.VirtualMachine(ctx, Original)
	if err != nil {
		return err
	}
	if err := ended(ctx)(vm.PowerOff(ctx)); err != nil {
		return err
	}
	return ended(ctx)(vm.Reconfigure(ctx, types.VirtualMachineConfigSpec{GuestId: "windows2019srvNext_64Guest"}))
}

// ended waits for a task that was begun.
func ended(ctx context.Context) func(*object.Task, error) error {
	return func(task *object.Task, err error) error {
		if err != nil {
			return err
		}
		return task.Wait(ctx)
	}
}

// attend does what VMware Tools and the machine do: it tells the address of
// each machine that runs, which is the node's, and ends the machine when the
// node's shutdown.exe was told to.
func (s *Server) attend(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	seen := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		calls := s.guest.Shutdowns()
		stop := slices.ContainsFunc(calls[min(seen, len(calls)):], func(c string) bool { return strings.HasPrefix(c, "/s") })
		seen = len(calls)
		for _, e := range s.model.Map().All("VirtualMachine") {
			vm, ok := e.(*simulator.VirtualMachine)
			if !ok || vm.Runtime.PowerState != types.VirtualMachinePowerStatePoweredOn {
				continue
			}
			if stop {
				// The build says what it sees of it.
				_ = ended(ctx)(object.NewVirtualMachine(s.client.Client, vm.Self).PowerOff(ctx))
				continue
			}
			s.address(vm)
		}
	}
}

// address tells the guest's address, as VMware Tools do.
func (s *Server) address(vm *simulator.VirtualMachine) {
	ip := s.guest.Address
	c := s.model.Service.Context
	c.WithLock(vm, func() {
		if len(vm.Guest.Net) == 0 || vm.Guest.Net[0].IpConfig != nil {
			return
		}
		nics := slices.Clone(vm.Guest.Net)
		nics[0].IpAddress = []string{ip}
		nics[0].IpConfig = &types.NetIpConfigInfo{IpAddress: []types.NetIpConfigInfoIpAddress{{IpAddress: ip, PrefixLength: 8, State: "preferred"}}}
		s.model.Map().Update(c, vm, []types.PropertyChange{{Name: "guest.net", Val: nics}, {Name: "guest.ipAddress", Val: ip}, {Name: "summary.guest.ipAddress", Val: ip}})
	})
}

// Machine is what vCenter says of a machine.
type Machine struct {
	Name, GuestID, Firmware, Notes string
	Template, On                   bool
}

// Machines are all machines, by their names.
func (s *Server) Machines(ctx context.Context) ([]Machine, error) {
	list, err := s.find.VirtualMachineList(ctx, "*")
	if err != nil {
		return nil, err
	}
	var all []Machine
	for _, vm := range list {
		var p mo.VirtualMachine
		if err := vm.Properties(ctx, vm.Reference(), []string{"config", "runtime"}, &p); err != nil {
			return nil, err
		}
		all = append(all, Machine{Name: vm.Name(), GuestID: p.Config.GuestId, Firmware: p.Config.Firmware, Notes: p.Config.Annotation,
			Template: p.Config.Template, On: p.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn})
	}
	slices.SortFunc(all, func(a, b Machine) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Files are the files in the datastore, but for those of the original.
func (s *Server) Files(ctx context.Context) ([]string, error) {
	ds, err := s.find.Datastore(ctx, Datastore)
	if err != nil {
		return nil, err
	}
	var p mo.Datastore
	if err := ds.Properties(ctx, ds.Reference(), []string{"info"}, &p); err != nil {
		return nil, err
	}
	dir := p.Info.GetDatastoreInfo().Url
	var files []string
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		if err != nil || relErr != nil || d.IsDir() || strings.HasPrefix(rel, Original+"/") {
			return err
		}
		files = append(files, rel)
		return nil
	})
	return files, err
}
