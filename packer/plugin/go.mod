module github.com/winbake/winbake/packer/plugin

go 1.26.0

require (
	github.com/hashicorp/hcl/v2 v2.24.0
	github.com/hashicorp/packer-plugin-sdk v0.6.10
	github.com/winbake/winbake v0.0.0-00010101000000-000000000000
	github.com/zclconf/go-cty v1.16.3
	github.com/vmware/govmomi v0.51.0
	github.com/google/go-containerregistry v0.22.1
)

replace github.com/winbake/winbake => ../..

// The SDK needs a go-cty whose values gob can encode; this is the fork that
// packer-sdc fix writes into every plugin's go.mod.
replace github.com/zclconf/go-cty => github.com/nywilken/go-cty v1.13.3
