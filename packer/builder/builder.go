// Package builder is the one table of the Packer builders that templates are
// for: their plugins, where their machines come from, and the guests that vSphere
// knows.
//
// It is data. What a builder's source block has is package template's.
package builder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
)

// Plugin is the Packer plugin that a builder comes from.
type Plugin struct {
	Name   string // vsphere
	Source string // github.com/hashicorp/vsphere
	// Constraint holds the versions that were run, and nothing later: a
	// builder's keys change between major versions.
	Constraint string
}

// Medium is where a builder's machine comes from.
type Medium int

// The media.
const (
	ISO   Medium = iota // Windows Setup runs, from a CD with an answer file
	Image               // a machine that is reachable already
	Cloud               // so, and the cloud's agent knows how to generalize it
)

// Builder is one builder of Packer and the place that it makes images for.
type Builder struct {
	// Name is Packer's: vsphere-iso.
	Name string
	// Title is for people: "VMware vSphere, from an ISO".
	Title  string
	Plugin Plugin
	// Tested says what its template was run on.
	Tested string
	Medium Medium
	// Metadata are the services of cloudbase-init that know the platform's
	// metadata (https://cloudbase-init.readthedocs.io/en/latest/services.html).
	Metadata string
}

var builders = []Builder{
	{"vsphere-iso", "VMware vSphere, from an ISO", vspherePlugin, validated + simulated, ISO, service + "vmwareguestinfoservice.VMwareGuestInfoService"},
	{"vsphere-clone", "VMware vSphere, from a template or VM", vspherePlugin, validated + simulated, Image, service + "vmwareguestinfoservice.VMwareGuestInfoService"},
	{"azure-arm", "Microsoft Azure", hashicorp("azure", ">= 1.4.5, < 2.0.0"), validated + "1.4.5", Cloud, service + "azureservice.AzureService"},
	{"amazon-ebs", "Amazon EC2", hashicorp("amazon", ">= 1.3.2, < 2.0.0"), validated + "1.3.2", Cloud, service + "ec2service.EC2Service"},
	{"googlecompute", "Google Compute Engine", hashicorp("googlecompute", ">= 1.1.4, < 2.0.0"), validated + "1.1.4", Cloud, service + "gceservice.GCEService"},
	{"qemu", "QEMU and KVM", hashicorp("qemu", ">= 1.0.9, < 2.0.0"), validated + "1.0.9", ISO, configDrive},
}

// vspherePlugin stays below 2.0.0: from there on it is github.com/vmware/vsphere,
// which wasn't run.
var vspherePlugin = hashicorp("vsphere", ">= 1.4.2, < 2.0.0")

// Builders lists the table, in the order of the documentation.
func Builders() []Builder { return slices.Clone(builders) }

// Names lists the builders' names.
func Names() []string {
	var names []string
	for _, b := range builders {
		names = append(names, b.Name)
	}
	return names
}

// Find returns a builder by name. The error is a *fault.Error that lists their
// names.
func Find(name string) (*Builder, error) {
	for i := range builders {
		if builders[i].Name == name {
			return &builders[i], nil
		}
	}
	return nil, &fault.Error{What: fmt.Sprintf("there is no platform %q", name), Fix: "bake template list shows " + strings.Join(Names(), ", ")}
}

func hashicorp(name, constraint string) Plugin {
	return Plugin{Name: name, Source: "github.com/hashicorp/" + name, Constraint: constraint}
}
