package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
)

// Plugin is the Packer plugin that a platform's builder comes from.
type Plugin struct {
	Name   string // vsphere
	Source string // github.com/hashicorp/vsphere
	// Constraint holds the versions that were run, and nothing later: a
	// builder's keys change between major versions.
	Constraint string
}

// Platform is one builder of Packer and the place that it makes images for.
type Platform struct {
	// Name is the builder's: vsphere-iso.
	Name string
	// Title is for people: "VMware vSphere, from an ISO".
	Title  string
	Plugin Plugin
	// Tested says what its template was run on.
	Tested string

	build func(*render)
}

// The hypervisor or cloud decides these parts beside the builder.
type media int

const (
	fromISO   media = iota // Windows Setup runs, from a CD with an answer file
	fromImage              // a machine that is reachable already
	fromCloud              // so, and the cloud's agent knows how to generalize
)

const (
	validated = "validated and formatted with Packer 1.12.0 and 1.16.0, plugin "
	// simulated: no vCenter and no Windows, but all of Packer's work with both.
	simulated = "1.4.2; built on govmomi's simulator of vCenter with Packer 1.16.0"
)

var platforms = []Platform{
	{"vsphere-iso", "VMware vSphere, from an ISO", vspherePlugin, validated + simulated, vsphereISO},
	{"vsphere-clone", "VMware vSphere, from a template or VM", vspherePlugin, validated + simulated, vsphereClone},
	{"azure-arm", "Microsoft Azure", hashicorp("azure", ">= 1.4.5, < 2.0.0"), validated + "1.4.5", azure},
	{"amazon-ebs", "Amazon EC2", hashicorp("amazon", ">= 1.3.2, < 2.0.0"), validated + "1.3.2", amazon},
	{"googlecompute", "Google Compute Engine", hashicorp("googlecompute", ">= 1.1.4, < 2.0.0"), validated + "1.1.4", google},
	{"qemu", "QEMU and KVM", hashicorp("qemu", ">= 1.0.9, < 2.0.0"), validated + "1.0.9", qemu},
	{"hyperv-iso", "Microsoft Hyper-V", hashicorp("hyperv", ">= 1.0.4, < 2.0.0"), validated + "1.0.4", hyperv},
	{"proxmox-iso", "Proxmox VE", hashicorp("proxmox", ">= 1.2.2, < 2.0.0"), "checked by verify template alone: its plugin couldn't be had", proxmox},
}

// vspherePlugin stays below 2.0.0: from there on it is github.com/vmware/vsphere,
// which wasn't run.
var vspherePlugin = hashicorp("vsphere", ">= 1.4.2, < 2.0.0")

func hashicorp(name, constraint string) Plugin {
	return Plugin{Name: name, Source: "github.com/hashicorp/" + name, Constraint: constraint}
}

// Platforms lists what there are templates for, in the order of the
// documentation.
func Platforms() []Platform { return slices.Clone(platforms) }

// Find returns a platform by name. The error is a *fault.Error that lists
// their names.
func Find(name string) (*Platform, error) {
	var names []string
	for i := range platforms {
		if platforms[i].Name == name {
			return &platforms[i], nil
		}
		names = append(names, platforms[i].Name)
	}
	return nil, &fault.Error{What: fmt.Sprintf("there is no platform %q", name), Fix: "bake template list shows " + strings.Join(names, ", ")}
}
