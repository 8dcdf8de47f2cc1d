package builder

import (
	"slices"
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
	{"vsphere-iso", "VMware vSphere, from an ISO", vspherePlugin, validated + simulated, ISO, service + "vmwareguestinfoservice.VMwareGuestInfoService", vsphere},
	{"vsphere-clone", "VMware vSphere, from a template or VM", vspherePlugin, validated + simulated, Image, service + "vmwareguestinfoservice.VMwareGuestInfoService", vsphere},
	{"azure-arm", "Microsoft Azure", hashicorp("azure", ">= 1.4.5, < 2.0.0"), validated + "1.4.5", Cloud, service + "azureservice.AzureService", azure},
	{"amazon-ebs", "Amazon EC2", hashicorp("amazon", ">= 1.3.2, < 2.0.0"), validated + "1.3.2", Cloud, service + "ec2service.EC2Service", slices.Concat(amazonNetwork, amazonImage)},
	{"googlecompute", "Google Compute Engine", hashicorp("googlecompute", ">= 1.1.4, < 2.0.0"), validated + "1.1.4", Cloud, service + "gceservice.GCEService", google},
	{"qemu", "QEMU and KVM", hashicorp("qemu", ">= 1.0.9, < 2.0.0"), validated + "1.0.9", ISO, configDrive, []Attribute{
		{Name: "net_bridge", Type: "string", Description: "Bridge of the host that the machine is on. Empty is QEMU's own network."},
	}},
	{"hyperv-iso", "Microsoft Hyper-V", hashicorp("hyperv", ">= 1.0.4, < 2.0.0"), validated + "1.0.4", ISO, configDrive, []Attribute{
		{Name: "vlan_id", Type: "string", Description: "VLAN of the machine. Empty for none.", Pattern: `^[0-9]{1,4}$`, Form: "a number"},
		{Name: "mac_address", Type: "string", Description: "MAC address of the machine. Empty is any.", Pattern: `^[0-9a-fA-F]{12}$`, Form: "such as 0123456789ab"},
	}},
	{"proxmox-iso", "Proxmox VE", hashicorp("proxmox", ">= 1.2.2, < 2.0.0"), "checked by verify template alone: its plugin couldn't be had", ISO, configDrive, []Attribute{
		{Name: "pool", Type: "string", Description: "Resource pool of the image. Empty for none."},
	}},
}

// vspherePlugin stays below 2.0.0: from there on it is github.com/vmware/vsphere,
// which wasn't run.
var vspherePlugin = hashicorp("vsphere", ">= 1.4.2, < 2.0.0")

func hashicorp(name, constraint string) Plugin {
	return Plugin{Name: name, Source: "github.com/hashicorp/" + name, Constraint: constraint}
}

const (
	guid     = `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`
	guidForm = "such as 00000000-0000-0000-0000-000000000000"
)

var vsphere = []Attribute{
	{Name: "cluster", Type: "string", Description: "Cluster in which the machine is made. Empty where host is given."},
	{Name: "host", Type: "string", Description: "ESXi host on which the machine is made. Empty leaves it to the cluster."},
	{Name: "folder", Type: "string", Description: "Folder of the image. Empty is the datacenter's own."},
	{Name: "resource_pool", Type: "string", Description: "Resource pool. Empty is the cluster's or host's own."},
	{Name: "set_host_for_datastore_uploads", Type: "bool", Description: "Upload to the datastore through host, for a vCenter that may not do so itself."},
	// VMware Tools report 169.254.0.0/16 before DHCP has answered, and the
	// plugin takes the first address that is still the same after the settle
	// time (https://developer.hashicorp.com/packer/integrations/hashicorp/vsphere/latest/components/builder/vsphere-iso#ip-wait-configuration).
	{Name: "ip_wait_address", Type: "string", Default: `"0.0.0.0/0"`, Description: "Network that the machine's address is in, such as 10.0.8.0/22. Addresses of other networks are passed over.", Pattern: `^[0-9a-fA-F.:]+/[0-9]{1,3}$`, Form: "such as 10.0.8.0/22"},
	{Name: "ip_settle_timeout", Type: "string", Default: `"1m"`, Description: "How long an address has to stay the same: until DHCP answers, Windows gives itself one.", Pattern: `^[0-9]+[sm]$`, Form: "such as 30s or 2m"},
	{Name: "create_snapshot", Variable: "snapshot", Type: "string", Description: "Name of a snapshot that linked clones are made of, as a MachineSet's snapshot names it. Empty makes none.", Value: `var.snapshot != ""`},
	{Name: "snapshot_name", Variable: "snapshot"},
}

var azure = []Attribute{
	{Name: "tenant_id", Type: "string", Description: "Tenant. Empty is the subscription's.", Pattern: guid, Form: guidForm},
	{Name: "client_id", Type: "string", Description: "Service principal. Empty where use_azure_cli_auth is true.", Pattern: guid, Form: guidForm},
	{Name: "build_resource_group_name", Type: "string", Description: "Resource group that the machine is made in. Empty makes one for the build, which takes the right to do so."},
	{Name: "build_key_vault_name", Type: "string", Description: "Key vault for WinRM's certificate, in build_resource_group_name. Empty makes one."},
	{Name: "virtual_network_name", Type: "string", Description: "Virtual network that is there already. The machine has a private address then. Empty makes one, with a public address."},
	{Name: "virtual_network_subnet_name", Type: "string", Description: "Subnet in virtual_network_name. Empty takes its only one."},
	{Name: "virtual_network_resource_group_name", Type: "string", Description: "Resource group of virtual_network_name. Empty looks for it."},
	{Name: "private_virtual_network_with_public_ip", Type: "bool", Description: "Give the machine in virtual_network_name a public address."},
	{Name: "allowed_inbound_ip_addresses", Type: "list(string)", Description: "Addresses and networks that reach the machine at its public address. Empty is everybody."},
}

var amazonNetwork = []Attribute{
	{Name: "profile", Type: "string", Description: "Profile of AWS's configuration files. Empty is the environment's."},
	{Name: "vpc_id", Type: "string", Description: "VPC of the instance. Empty is subnet_id's, or the default one.", Pattern: `^vpc-[0-9a-f]+$`, Form: "such as vpc-0123abcd"},
	{Name: "subnet_id", Type: "string", Description: "Subnet of the instance. Empty is the default VPC's.", Pattern: `^subnet-[0-9a-f]+$`, Form: "such as subnet-0123abcd"},
	{Name: "security_group_ids", Type: "list(string)", Description: "Security groups that let SSH in. Empty makes one for the build."},
	{Name: "temporary_security_group_source_cidrs", Type: "list(string)", Description: "Networks that the build's own security group lets in. Empty is everybody."},
	{Name: "associate_public_ip_address", Variable: "private_address", Type: "bool", Description: "Reach the instance at its private address, and give it no public one.", Value: "var.private_address ? false : null"},
	{Name: "ssh_interface", Variable: "private_address", Value: `var.private_address ? "private_ip" : null`},
}

var amazonImage = []Attribute{
	{Name: "iam_instance_profile", Type: "string", Description: "Instance profile of the instance. Empty for none."},
	{Name: "kms_key_id", Type: "string", Description: "KMS key that the image's snapshot is encrypted with. Empty is the account's own."},
	{Name: "ami_users", Type: "list(string)", Description: "Accounts that may start instances of the image."},
}

var google = []Attribute{
	{Name: "network", Type: "string", Description: "Network of the machine. Empty is subnetwork's, or the default one."},
	{Name: "subnetwork", Type: "string", Description: "Subnetwork of the machine. Empty is the default network's."},
	{Name: "network_project_id", Type: "string", Description: "Project of network and subnetwork, where it is a shared VPC's. Empty is project_id."},
	{Name: "tags", Variable: "network_tags", Type: "list(string)", Description: "Network tags, which firewall rules go by."},
	{Name: "use_internal_ip", Variable: "internal_ip", Type: "bool", Description: "Reach the machine at its internal address, and give it no external one.", Value: "var.internal_ip || var.use_iap"},
	{Name: "omit_external_ip", Variable: "internal_ip", Value: "var.internal_ip || var.use_iap"},
	{Name: "use_iap", Type: "bool", Description: "Reach the machine through Identity-Aware Proxy, which needs gcloud on this host. It has no external address then."},
	{Name: "service_account_email", Type: "string", Description: "Service account of the machine. Empty is the project's default."},
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

// GuestOf tells what a guest id is, and whether vSphere knows it.
func GuestOf(id string) (Guest, bool) { return guests[id], slices.Contains(guestIDs, id) }
