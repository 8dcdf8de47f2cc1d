package template

// vCenter and where in it; both vSphere platforms have these.
func vcenterVariables() []Variable {
	return []Variable{
		needed("vcenter_server", "Host name of vCenter."),
		needed("vcenter_username", "User of vCenter, such as packer@vsphere.local."),
		secret("vcenter_password", "Password of vcenter_username."),
		yesNo("vcenter_insecure", false, "Take any certificate for vCenter's. Whoever is between Packer and vCenter then reads the passwords."),
		needed("datacenter", "Datacenter in vCenter."),
		text("cluster", "", "Cluster in which the machine is made. Empty where host is given."),
		text("host", "", "ESXi host on which the machine is made. Empty leaves it to the cluster."),
		needed("datastore", "Datastore of the machine's disk."),
		text("folder", "", "Folder of the image. Empty is the datacenter's own."),
		text("resource_pool", "", "Resource pool. Empty is the cluster's or host's own."),
		needed("network", "Network of the machine: an access port, with DHCP."),
		amount("cpus", 4, 2, "Virtual processors."),
		amount("memory_mb", 16384, 4096, "Memory in MB."),
	}
}

// inDatastore is a file as vSphere names it. empty lets "" pass too.
func inDatastore(name string, empty bool) Rule {
	return matches(name, `^\[[^\]]*\] \S.*$`, name+" has to be such as [datastore] folder/file.iso", empty)
}

func vcenter(b *body) {
	b.fromVars("vcenter_server")
	b.set("username", "var.vcenter_username")
	b.set("password", "var.vcenter_password")
	b.set("insecure_connection", "var.vcenter_insecure")
	b.gap()
	b.fromVars("datacenter")
	for _, n := range []string{"cluster", "host", "folder", "resource_pool"} {
		b.set(n, `var.`+n+` == "" ? null : var.`+n)
	}
	b.fromVars("datastore")
	b.gap()
	b.set("vm_name", "var.image_name")
	b.set("notes", "local.notes")
	b.set("CPUs", "var.cpus")
	b.set("RAM", "var.memory_mb")
}

func (r *render) vsphereCommon() {
	r.vsphere = true
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
	r.media = fromISO
	r.vsphereCommon()
	r.tools = "vmware-tools"
	// Tools 12 moved the driver: both places are searched.
	r.drivers = []string{
		`Program Files\VMware\VMware Tools\Drivers\pvscsi\Win8\amd64`,
		`Program Files\VMware\VMware Tools\Drivers\pvscsi\Win10\amd64`,
	}
	r.locals = append(r.locals, local{name: "efi", expression: `var.firmware != "bios"`})
	r.demand("iso_given", `var.iso_path != "" || var.iso_url != ""`, "iso_path or iso_url: neither is given, and there is no Windows to install")
	r.vars = append(vcenterVariables(),
		text("iso_path", "", "Windows' ISO in a datastore: [datastore] folder/file.iso. Empty where iso_url is given.", inDatastore("iso_path", true)),
		text("iso_url", "", "URL or file of Windows' ISO, which Packer puts into the datastore. Empty where iso_path is given."),
		optionalChecksum("iso_checksum", "Sum of the ISO at iso_url, sha256:... or sha512:..."),
		text("tools_iso_path", "[] /vmimages/tools-isoimages/windows.iso", "ISO of VMware Tools, which brings the drivers of disk and network. The default is the host's own.", inDatastore("tools_iso_path", false)),
		amount("disk_mb", 131072, 40960, "Size of the disk in MB."),
		text("firmware", "efi-secure", "efi-secure, efi or bios.", oneOf("firmware", "efi-secure", "efi", "bios")),
		yesNo("vtpm", false, "Give the machine a TPM. It needs EFI, and a key provider in vCenter."),
		amount("hardware_version", r.release().hardware, 15, "Version of the virtual hardware. OpenShift wants 15 at least; ESXi knows "+r.release().name+" from the default on."),
	)
	r.vars = append(r.vars, bootVariables("2s")...)
	r.source = func(b *body) {
		vcenter(b)
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
		adapter := b.block("network_adapters")
		adapter.set("network", "var.network")
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
		b.set("convert_to_template", "true")
	}
	r.notes = append(r.notes, "vTPM is off: it needs a key provider in vCenter. `-var vtpm=true` turns it on.",
		"The host that runs Packer needs xorriso, mkisofs or oscdimg, to make the CD with the answer file.")
}

func vsphereClone(r *render) {
	r.media = fromImage
	r.vsphereCommon()
	r.vars = append(vcenterVariables(),
		needed("template", "Template or VM that is cloned. Windows has to be installed in it, VMware Tools too, and Packer has to get in: OpenSSH or WinRM, with admin_password."),
		yesNo("linked_clone", false, "Clone onto the template's snapshot, which is quick and ties the image to it."),
		amount("disk_mb", 131072, 40960, "Size of the disk in MB, not less than the template's. It can't be changed in a linked clone."),
	)
	r.source = func(b *body) {
		vcenter(b)
		b.gap()
		b.fromVars("template", "linked_clone", "network")
		b.set("disk_size", "var.linked_clone ? null : var.disk_mb")
		b.set("ip_wait_timeout", "var.connect_timeout")
		r.connect(b)
		shutdown(b)
		b.gap()
		b.set("convert_to_template", "true")
	}
	r.notes = append(r.notes, "sysprep can be run on one installation only so often: clone one that wasn't generalized before.")
}
