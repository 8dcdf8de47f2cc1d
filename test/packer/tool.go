package packer

// Tool is a program that is built from a Go module.
type Tool struct {
	// Name is the program's: packer, packer-plugin-vsphere.
	Name            string
	Module, Version string
	// Sum is the module's h1, as the checksum database has it.
	Sum string
	// Source is what `packer plugins install` calls a plugin; "" for Packer.
	Source string
}

// Packers are the versions that templates and plugin are run with: the newest
// one, and the least that templates ask for.
var Packers = []Tool{
	{Name: "packer", Module: "github.com/hashicorp/packer", Version: "v1.16.0", Sum: "h1:+e9/aNeyZuEGm9fGre3wfg2BNnj1AQj5HzboO4iEYuY="},
	{Name: "packer", Module: "github.com/hashicorp/packer", Version: "v1.12.0", Sum: "h1:OF+RPZnW5XJU7i6TWTqDsjHvcXxnaIabvGua8dYR+7Q="},
}

// Plugins are those of the platforms, at the newest versions that the module
// proxy has.
var Plugins = []Tool{
	plugin("vsphere", "v1.4.2", "h1:GPKA6THljryV7HdUMgb+scAsjR7efYVP2MG28D/STXk="),
	plugin("amazon", "v1.3.2", "h1:1rQoaKTdhE40+w1x2+A2SZZHoDTVTAXqNxq1wYrx5yY="),
	plugin("azure", "v1.4.5", "h1:nnk3kVCWqIUnjdqEc0xoIGaKdWFdJkBVOfzqqh2powc="),
	plugin("googlecompute", "v1.1.4", "h1:4uLxqmYIgXyPzq41tc5g8y8ya0TZFYdsYj8qtmwNmRg="),
	plugin("qemu", "v1.0.9", "h1:1YKBBzBULYUBWtpAZJTbaLjjZPAdQ63okkpTqMBTnzM="),
}

// Plugin is the one of Plugins with this name, such as vsphere. Without one it
// panics: it's asked for what the code has.
func Plugin(name string) Tool {
	for _, p := range Plugins {
		if p.Name == "packer-plugin-"+name {
			return p
		}
	}
	panic("no plugin " + name)
}

func plugin(name, version, sum string) Tool {
	return Tool{Name: "packer-plugin-" + name, Module: "github.com/hashicorp/packer-plugin-" + name, Version: version, Sum: sum,
		Source: "github.com/hashicorp/" + name}
}

// linkerFlags: a plugin that calls itself a prerelease isn't installed, and
// some are tagged so.
func (t Tool) linkerFlags() string {
	return "-s -w -X " + t.Module + "/version.VersionPrerelease="
}
