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

var platforms = []Platform{
	{
		Name: "vsphere-iso", Title: "VMware vSphere, from an ISO", build: vsphereISO, Plugin: vspherePlugin,
		Tested: "validated and formatted with Packer 1.12.0 and 1.16.0, plugin 1.4.2",
	},
	{
		Name: "vsphere-clone", Title: "VMware vSphere, from a template or VM", build: vsphereClone, Plugin: vspherePlugin,
		Tested: "validated and formatted with Packer 1.12.0 and 1.16.0, plugin 1.4.2",
	},
}

var vspherePlugin = Plugin{"vsphere", "github.com/hashicorp/vsphere", ">= 1.4.2, < 2.0.0"}

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
