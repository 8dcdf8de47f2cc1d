package builder

import (
	_ "embed"
	"slices"
	"strings"
)

const (
	validated = "validated and formatted with Packer 1.12.0 and 1.16.0, plugin "
	// simulated: no vCenter and no Windows, but all of Packer's work with both.
	simulated = "1.4.2; built on govmomi's simulator of vCenter with Packer 1.16.0"
)

const service = "cloudbaseinit.metadata.services."

// configDrive is what hypervisors without a metadata service give: a CD.
const configDrive = service + "nocloudservice.NoCloudConfigDriveService," + service + "configdrive.ConfigDriveService"

// Guest is what a machine's guest id tells vSphere.
type Guest struct {
	Windows string // Windows Server 2022
	// Node says that the operator's nodes run it.
	Node bool
	// Hardware is the version of the virtual hardware from which on vSphere knows
	// the id; 0 where nobody needs it.
	Hardware int
}

// guests are those of Windows. An id's hardware is that of the first ESXi that has
// the id, 7.0 U1 and 8.0: minAPIVersionForEnumValue in vim25/types/enum.go of
// https://github.com/vmware/govmomi tells that release, and its hardware is in
// https://developer.broadcom.com/xapis/vsphere-automation-api/latest/vcenter/data-structures/Vm_Hardware_Upgrade_RequestBody
var guests = map[string]Guest{
	"windows2019srvNext_64Guest": {"Windows Server 2022", true, 18},
	"windows2022srvNext_64Guest": {"Windows Server 2025", true, 20},
	"windows9Server64Guest":      {Windows: "Windows Server 2016"},
	"windows9Server_64Guest":     {Windows: "Windows Server 2016"},
	"windows2019srv_64Guest":     {Windows: "Windows Server 2019, which the operator doesn't support on vSphere"},
	"windows8Server64Guest":      {Windows: "Windows Server 2012"},
	"windows7Server64Guest":      {Windows: "Windows Server 2008 R2"},
	"windows11_64Guest":          {Windows: "Windows 11"},
	"windows12_64Guest":          {Windows: "Windows 12"},
}

// guestIDs are those that vCenter knows, one a line: VirtualMachineGuestOsIdentifier of
// https://github.com/vmware/govmomi v0.52.0. A test keeps them current.
//
//go:embed guestids.txt
var guestIDs string

// GuestOf tells what a guest id is, and whether vSphere knows it.
func GuestOf(id string) (Guest, bool) {
	return guests[id], slices.Contains(strings.Fields(guestIDs), id)
}
