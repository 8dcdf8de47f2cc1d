package template

import (
	"github.com/winbake/winbake/packer/builder"
)

// Platform is one builder of Packer and the place that it makes images for.
type Platform = builder.Builder

// Plugin is the Packer plugin that a platform's builder comes from.
type Plugin = builder.Plugin

// platforms write what a builder's source block has beyond the table, and its
// variables.
var platforms = map[string]func(*render){
	"vsphere-iso": vsphereISO, "vsphere-clone": vsphereClone, "azure-arm": azure, "amazon-ebs": amazon,
	"googlecompute": google, "qemu": qemu, "hyperv-iso": hyperv, "proxmox-iso": proxmox,
}

// Platforms lists what there are templates for, in the order of the
// documentation.
func Platforms() []Platform { return builder.Builders() }

// PlatformNames lists their names.
func PlatformNames() []string { return builder.Names() }

// Find returns a platform by name. The error is a *fault.Error that lists
// their names.
func Find(name string) (*Platform, error) { return builder.Find(name) }

// attributeVariables are the variables of the platform's table.
func (r *render) attributeVariables() []Variable {
	var vars []Variable
	for _, a := range r.platform.Attributes {
		if a.Type == "" {
			continue // an attribute before it has described the variable
		}
		v := Variable{Name: variableOf(a), Type: a.Type, Default: a.Default, Description: a.Description}
		if v.Default == "" {
			v.Default = map[string]string{"bool": "false", "list(string)": "[]"}[a.Type]
		}
		if v.Default == "" {
			v.Default = `""`
		}
		if a.Pattern != "" {
			v.Rules = []Rule{matches(v.Name, a.Pattern, v.Name+" has to be "+a.Form, true)}
		}
		vars = append(vars, v)
	}
	return vars
}

// attributes writes the platform's table into the source block.
func (r *render) attributes(b *body) {
	b.gap()
	for _, a := range r.platform.Attributes {
		name := variableOf(a)
		value := a.Value
		switch {
		case value != "":
		case a.Type == "bool":
			value = "var." + name
		case a.Type == "list(string)":
			value = "length(var." + name + ") == 0 ? null : var." + name
		default:
			value = "var." + name + ` == "" ? null : var.` + name
		}
		b.set(a.Name, value)
	}
}

func variableOf(a builder.Attribute) string {
	if a.Variable != "" {
		return a.Variable
	}
	return a.Name
}
