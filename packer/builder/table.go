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

var builders = []Builder{
	{"vsphere-iso", "VMware vSphere, from an ISO", vspherePlugin, validated + simulated, ISO, service + "vmwareguestinfoservice.VMwareGuestInfoService"},
	{"vsphere-clone", "VMware vSphere, from a template or VM", vspherePlugin, validated + simulated, Image, service + "vmwareguestinfoservice.VMwareGuestInfoService"},
	{"azure-arm", "Microsoft Azure", hashicorp("azure", ">= 1.4.5, < 2.0.0"), validated + "1.4.5", Cloud, service + "azureservice.AzureService"},
	{"amazon-ebs", "Amazon EC2", hashicorp("amazon", ">= 1.3.2, < 2.0.0"), validated + "1.3.2", Cloud, service + "ec2service.EC2Service"},
	{"googlecompute", "Google Compute Engine", hashicorp("googlecompute", ">= 1.1.4, < 2.0.0"), validated + "1.1.4", Cloud, service + "gceservice.GCEService"},
	{"qemu", "QEMU and KVM", hashicorp("qemu", ">= 1.0.9, < 2.0.0"), validated + "1.0.9", ISO, configDrive},
	{"hyperv-iso", "Microsoft Hyper-V", hashicorp("hyperv", ">= 1.0.4, < 2.0.0"), validated + "1.0.4", ISO, configDrive},
	{"proxmox-iso", "Proxmox VE", hashicorp("proxmox", ">= 1.2.2, < 2.0.0"), "checked by verify template alone: its plugin couldn't be had", ISO, configDrive},
}

// vspherePlugin stays below 2.0.0: from there on it is github.com/vmware/vsphere,
// which wasn't run.
var vspherePlugin = hashicorp("vsphere", ">= 1.4.2, < 2.0.0")

func hashicorp(name, constraint string) Plugin {
	return Plugin{Name: name, Source: "github.com/hashicorp/" + name, Constraint: constraint}
}

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
