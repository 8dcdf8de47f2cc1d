package vcenter

import (
	"context"
	"slices"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"github.com/winbake/winbake/test/wine/winenode"
)

// The simulator installs nothing and has no first boot. So a vCenter of this
// package refuses what on a real one would go on for an hour and end in a machine
// that nobody can reach: to start a machine whose Windows Setup would stop, and to
// make a template of a machine that was brought files at which Windows stops. What a
// node's image needs is for the guest check to say.

// handle is asked by the simulator before each call.
func (s *Server) handle(_ *simulator.Context, m *simulator.Method) (mo.Reference, types.BaseMethodFault) {
	switch m.Name {
	case "CreateVM_Task":
		s.builder.Store("vsphere-iso")
	case "CloneVM_Task":
		s.builder.Store("vsphere-clone")
	case "PowerOnVM_Task":
		if vm, ok := s.model.Map().Get(m.This).(*simulator.VirtualMachine); ok {
			if said := s.setup(vm); said != "" {
				s.refuse(m, said)
			}
		}
	case "MarkAsTemplate", "CreateSnapshot_Task":
		if said := s.Broken(); len(said) > 0 {
			s.refuse(m, "the image isn't what a node needs:\n"+strings.Join(said, "\n"))
		}
	}
	return nil, nil
}

// setup says why Windows Setup would stop on a machine that is about to start, or
// why nobody would listen afterwards.
func (s *Server) setup(vm *simulator.VirtualMachine) string {
	if s.made() != "vsphere-iso" {
		return ""
	}
	media, err := s.media(context.Background(), vm)
	if err != nil {
		return err.Error()
	}
	s.mu.Lock()
	s.onMedia = media
	s.mu.Unlock()
	isAnswer := func(f winenode.File) bool {
		return strings.EqualFold(base(f), "autounattend.xml")
	}
	if !slices.ContainsFunc(media, isAnswer) {
		return "Windows Setup would ask and wait: no CD or floppy of the machine has autounattend.xml"
	}
	if said := broken(media); len(said) > 0 {
		return "Windows Setup, or the first logon, would stop, and nothing would listen for Packer:\n" + strings.Join(said, "\n")
	}
	return ""
}

// Broken says what is wrong with what the build has brought to the machine: each line
// is one thing. It is for when the guest is shut down.
func (s *Server) Broken() []string {
	s.mu.Lock()
	media := s.onMedia
	s.mu.Unlock()
	return broken(slices.Concat(media, s.guest.arrived()))
}

func (s *Server) made() string {
	builder, _ := s.builder.Load().(string)
	return builder
}

// refuse has the simulator answer this call with a fault.
func (s *Server) refuse(m *simulator.Method, said string) {
	s.model.Service.FaultInjector().AddRule(&simulator.FaultInjectionRule{MethodName: m.Name, ObjectType: "*", ObjectName: "*",
		Probability: 1, MaxCount: 1, Enabled: true, Message: "a real build fails here: " + said})
}
