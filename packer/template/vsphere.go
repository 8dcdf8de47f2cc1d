package template

import (
	"fmt"

	"github.com/winbake/winbake/packer/builder"
)

// vCenter and where in it; both vSphere platforms have these.
func vcenterVariables() []Variable {
	return []Variable{
		needed("vcenter_server", "Host name of vCenter."),
		needed("vcenter_username", "User of vCenter, such as packer@vsphere.local."),
		secret("vcenter_password", "Password of vcenter_username."),
		yesNo("vcenter_insecure", false, "Take any certificate for vCenter's. Whoever is between Packer and vCenter then reads the passwords."),
		needed("datacenter", "Datacenter in vCenter."),
		needed("datastore", "Datastore of the machine's disk."),
		needed("network", "Network of the machine: an access port, with DHCP."),
		amount("cpus", 4, 2, "Virtual processors."),
		amount("memory_mb", 16384, 4096, "Memory in MB."),
		text("content_library", "", "Content library that the image goes to as an OVF template called image_name: each build is the item's next version. Empty makes a template in the inventory."),
		text("export_directory", "", "Folder that the image is exported to as well. It stays a virtual machine in the inventory then. Empty exports nothing."),
		text("export_format", "ova", "ova, which needs VMware's ovftool on this host, or ovf.", oneOf("export_format", "ova", "ovf")),
	}
}

// inDatastore is a file as vSphere names it. empty lets "" pass too.
func inDatastore(name string, empty bool) Rule {
	return matches(name, `^\[[^\]]*\] \S.*$`, name+" has to be such as [datastore] folder/file.iso", empty)
}

func (r *render) vcenter(b *body) {
	b.fromVars("vcenter_server")
	b.set("username", "var.vcenter_username")
	b.set("password", "var.vcenter_password")
	b.set("insecure_connection", "var.vcenter_insecure")
	b.gap()
	b.fromVars("datacenter", "datastore")
	r.attributes(b)
	b.gap()
	b.set("vm_name", "local.image")
	b.set("notes", "local.notes")
	b.set("CPUs", "var.cpus")
	b.set("RAM", "var.memory_mb")
	b.comment("Without it Windows shows no serial numbers of disks, by which the CSI driver finds\nthem. OpenShift checks it of hosts that it installs\n(https://github.com/openshift/assisted-service/pull/5416); the Machine API and WMCO\nset it nowhere.")
	b.set("configuration_parameters", `{ "disk.EnableUUID" = "TRUE" }`)
}

// vsphereImage writes what becomes of the machine. What goes to a content
// library or is exported stays a virtual machine until then: a template's
// devices can't be changed, and its disks aren't exported.
func vsphereImage(b *body) {
	b.gap()
	b.set("convert_to_template", `var.content_library == "" && var.export_directory == ""`)
	b.gap()
	library := b.block("dynamic", "content_library_destination")
	library.set("for_each", `var.content_library == "" ? [] : [var.content_library]`)
	content := library.block("content")
	content.set("library", "var.content_library")
	content.set("name", "var.image_name")
	content.set("description", "local.notes")
	content.set("ovf", "true")
	content.set("destroy", "true")
	b.gap()
	export := b.block("dynamic", "export")
	export.set("for_each", `var.export_directory == "" ? [] : [var.export_directory]`)
	content = export.block("content")
	content.set("output_directory", "var.export_directory")
	content.set("output_format", "var.export_format")
}

func (r *render) vsphereCommon() {
	r.vsphere = true
	r.demand(demand{"place_given", `var.cluster != "" || var.host != ""`, "cluster or host: one of them, since the machine has to be somewhere", `give one of them: cluster = "..."`})
	r.locals = append(r.locals, r.notesLocal())
}

// notesLocal is what people read beside the image.
func (r *render) notesLocal() local {
	notes := `"` + r.release().name + `, ` + string(r.Profile) + `, without node files"`
	if !r.WithoutPayload {
		notes = `"` + r.release().name + `, ` + string(r.Profile) + `, payload ${data.winbake-payload.node.digest}"`
	}
	return local{name: "notes", expression: notes}
}

func vsphereISO(r *render) {
	r.vsphereCommon()
	r.tools = "vmware-tools"
	// Tools 12 moved the driver: both places are searched.
	r.drivers = []string{
		`Program Files\VMware\VMware Tools\Drivers\pvscsi\Win8\amd64`,
		`Program Files\VMware\VMware Tools\Drivers\pvscsi\Win10\amd64`,
	}
	r.locals = append(r.locals, local{name: "efi", expression: `var.firmware != "bios"`})
	r.demand(demand{"iso_given", `var.iso_path != "" || var.iso_url != ""`, "iso_path or iso_url: one of them, or there is no Windows to install", `give one of them: iso_path = "[datastore] windows.iso"`})
	r.demand(demand{"iso_sum_given", `var.iso_url == "" || var.iso_checksum != ""`, "iso_url and iso_checksum: both, or nobody would notice another file", "add iso_checksum: sha256sum FILE prints it"})
	r.demand(demand{"firmware_for_tpm", `!var.vtpm || var.firmware != "bios"`, "vtpm and firmware: a TPM needs EFI, and bios is none", `take firmware = "efi-secure", or leave vtpm out`})
	guest, _ := builder.GuestOf(r.release().guestID)
	r.vars = append(vcenterVariables(),
		text("iso_path", "", "Windows' ISO in a datastore: [datastore] folder/file.iso. Empty where iso_url is given.", inDatastore("iso_path", true)),
		text("iso_url", "", "URL or file of Windows' ISO, which Packer puts into the datastore. Empty where iso_path is given."),
		optionalChecksum("iso_checksum", "Sum of the ISO at iso_url, sha256:... or sha512:..."),
		text("tools_iso_path", "[] /vmimages/tools-isoimages/windows.iso", "ISO of VMware Tools, which brings the drivers of disk and network. The default is the host's own.", inDatastore("tools_iso_path", false)),
		amount("disk_mb", 131072, 40960, "Size of the disk in MB."),
		text("firmware", "efi-secure", "efi-secure, efi or bios.", oneOf("firmware", "efi-secure", "efi", "bios")),
		yesNo("vtpm", false, "Give the machine a TPM. It needs EFI, and a key provider in vCenter."),
		list("more_networks", "[]", "Networks of further network cards. WMCO supports nodes with one."),
		amount("hardware_version", r.release().hardware, 15, fmt.Sprintf("Version of the virtual hardware. OpenShift wants 15 at least; vSphere knows %s from %d on.", r.release().name, guest.Hardware)),
	)
	r.vars = append(r.vars, bootVariables("2s")...)
	r.source = func(b *body) {
		r.vcenter(b)
		b.gap()
		b.comment(r.release().name + "'s id: vSphere's ids are one release behind their names.")
		b.text("guest_os_type", r.release().guestID)
		b.set("vm_version", "var.hardware_version")
		b.set("firmware", "var.firmware")
		b.set("vTPM", "var.vtpm")
		b.set("disk_controller_type", `["pvscsi"]`)
		b.text("cdrom_type", "sata")
		b.gap()
		storage := b.block("storage")
		storage.set("disk_size", "var.disk_mb")
		storage.set("disk_thin_provisioned", "true")
		b.gap()
		adapters := b.block("dynamic", "network_adapters")
		adapters.set("for_each", "concat([var.network], var.more_networks)")
		adapter := adapters.block("content")
		adapter.set("network", "network_adapters.value")
		adapter.text("network_card", "vmxnet3")
		b.gap()
		b.set("iso_paths", `var.iso_path == "" ? [var.tools_iso_path] : [var.iso_path, var.tools_iso_path]`)
		b.set("iso_url", `var.iso_url == "" ? null : var.iso_url`)
		b.set("iso_checksum", `var.iso_url == "" ? null : var.iso_checksum`)
		r.cd(b)
		b.gap()
		b.fromVars("boot_command", "boot_wait")
		b.text("boot_order", "disk,cdrom")
		b.set("ip_wait_timeout", "var.connect_timeout")
		r.connect(b)
		shutdown(b)
		b.gap()
		b.set("remove_cdrom", "true")
		vsphereImage(b)
	}
	r.notes = append(r.notes, "vTPM is off: it needs a key provider in vCenter. `-var vtpm=true` turns it on.",
		"The host that runs Packer needs xorriso, mkisofs or oscdimg, to make the CD with the answer file.")
}

func vsphereClone(r *render) {
	r.vsphereCommon()
	r.vars = append(vcenterVariables(),
		needed("template", "Template or VM that is cloned. Windows has to be installed in it, VMware Tools too, and Packer has to get in: OpenSSH or WinRM, with admin_password."),
		yesNo("linked_clone", false, "Clone onto the template's snapshot, which is quick and ties the image to it."),
		amount("disk_mb", 131072, 40960, "Size of the disk in MB, not less than the template's. It can't be changed in a linked clone."),
	)
	r.source = func(b *body) {
		r.vcenter(b)
		b.gap()
		b.fromVars("template", "linked_clone", "network")
		b.set("disk_size", "var.linked_clone ? null : var.disk_mb")
		b.set("ip_wait_timeout", "var.connect_timeout")
		r.connect(b)
		shutdown(b)
		vsphereImage(b)
	}
	r.notes = append(r.notes, "sysprep can be run on one installation only so often: clone one that wasn't generalized before.")
}
