package template

import "strings"

// Platforms on which Windows Setup runs from an ISO that Packer fetches.

// isoVariables are the installation medium's, whose sum is mandatory.
func isoVariables() []Variable {
	return []Variable{
		needed("iso_url", "URL or file of Windows' ISO."),
		checksum("iso_checksum", "Sum of the ISO, sha256:... or sha512:..."),
	}
}

// checksum is the sum of a file that Packer fetches.
func checksum(name, description string) Variable {
	return summed(needed(name, description, isChecksum(name, false)))
}

// optionalChecksum is the sum of a file that needn't be given.
func optionalChecksum(name, description string) Variable {
	return summed(text(name, "", description, isChecksum(name, true)))
}

func isChecksum(name string, empty bool) Rule {
	return matches(name, checksumPattern, name+" has to be sha256: or sha512: and its hexadecimal digits", empty)
}

func summed(v Variable) Variable {
	v.Fix = `sha256sum FILE prints it: ` + v.Name + ` = "sha256:..."`
	return v
}

// machineVariables are what every machine of our own has.
func machineVariables() []Variable {
	return []Variable{
		amount("cpus", 4, 2, "Virtual processors."),
		amount("memory_mb", 16384, 4096, "Memory in MB."),
		amount("disk_mb", 131072, 40960, "Size of the disk in MB."),
	}
}

// bootSeconds is how long a key is pressed, once a second: a CD of Windows asks for
// one for 5 s, and when that is differs from host to host.
// https://github.com/rgl/windows-vagrant presses ten times.
const bootSeconds = 15

// bootVariables are about starting from the ISO.
func bootVariables(wait string) []Variable {
	return []Variable{
		list("boot_command", `["`+strings.Repeat("<spacebar><wait>", bootSeconds)+`"]`, "Keys that are typed at boot: EFI asks for one before it starts from a CD. Empty types none."),
		text("boot_wait", wait, "How long after power-on boot_command is typed.",
			matches("boot_wait", `^[0-9]+(ms|s|m)$`, "boot_wait has to be such as 2s", false)),
	}
}

// virtioDrivers are the folders of virtio-win that Setup needs to see disk and
// network.
func (r *render) virtioDrivers() []string {
	return []string{`vioscsi\` + r.release().virtio + `\amd64`, `NetKVM\` + r.release().virtio + `\amd64`}
}

// demandEFI is for platforms whose plugins take a TPM with a BIOS, from which
// Windows doesn't use it.
func (r *render) demandEFI() {
	r.demand(demand{"firmware_for_tpm", `!var.vtpm || var.firmware != "bios"`, "vtpm and firmware: a TPM needs EFI, and bios is none", `take firmware = "efi-secure", or leave vtpm out`})
}

func qemu(r *render) {
	r.tools = "virtio"
	r.drivers = r.virtioDrivers()
	r.demandEFI()
	r.locals = append(r.locals, local{name: "efi", expression: `var.firmware != "bios"`})
	r.cdFiles = `["${local.virtio_dir}/vioscsi", "${local.virtio_dir}/NetKVM", "${local.virtio_dir}/virtio-win-guest-tools.exe"]`
	dir := needed("virtio_dir", "Folder with the content of virtio-win.iso: vioscsi, NetKVM and virtio-win-guest-tools.exe go onto the CD.")
	dir.Path = true
	r.vars = append(isoVariables(), dir)
	r.vars = append(r.vars, machineVariables()...)
	r.vars = append(r.vars,
		text("firmware", "efi-secure", "efi-secure, efi or bios.", oneOf("firmware", "efi-secure", "efi", "bios")),
		text("efi_code", "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd", "EFI firmware. The default is Debian's with secure boot.", notEmpty("efi_code")),
		text("efi_vars", "/usr/share/OVMF/OVMF_VARS_4M.ms.fd", "EFI variables. The default is Debian's with Microsoft's keys.", notEmpty("efi_vars")),
		yesNo("vtpm", false, "Give the machine a TPM. It needs EFI, and swtpm on this host."),
		text("accelerator", "kvm", "kvm, hvf, whpx or tcg. Windows Setup takes half a day with tcg.", oneOf("accelerator", "kvm", "hvf", "whpx", "tcg")),
		text("cpu_model", "host", "Processor that Windows sees.", notEmpty("cpu_model")),
		text("output_directory", "output", "Folder in which the image gets one of its own.", notEmpty("output_directory")),
	)
	r.vars = append(r.vars, bootVariables("2s")...)
	r.source = func(b *body) {
		b.set("vm_name", `"${local.image}.qcow2"`)
		b.text("format", "qcow2")
		b.set("disk_compression", "true")
		b.set("output_directory", `"${var.output_directory}/${local.image}"`)
		b.fromVars("iso_url", "iso_checksum")
		r.attributes(b)
		b.gap()
		b.fromVars("accelerator", "cpu_model", "cpus")
		b.set("memory", "var.memory_mb")
		b.text("machine_type", "q35")
		b.set("efi_boot", "local.efi")
		b.set("efi_firmware_code", "local.efi ? var.efi_code : null")
		b.set("efi_firmware_vars", "local.efi ? var.efi_vars : null")
		b.fromVars("vtpm")
		b.set("disk_size", `"${var.disk_mb}M"`)
		b.text("disk_interface", "virtio-scsi")
		b.text("net_device", "virtio-net")
		b.set("headless", "true")
		r.cd(b)
		b.gap()
		b.fromVars("boot_command", "boot_wait")
		r.connect(b)
		shutdown(b)
	}
	r.notes = append(r.notes, "With `firmware = \"efi\"`, give `efi_code` and `efi_vars` without secure boot too; `bios` needs neither.",
		"qemu starts from the CD at the first boot alone, and from the disk after that.")
}

func hyperv(r *render) {
	r.locals = append(r.locals, local{name: "efi", expression: "var.generation == 2"})
	r.vars = append(isoVariables(),
		needed("switch_name", "Virtual switch of the machine, with DHCP behind it."),
		amount("generation", 2, 1, "2 is EFI with secure boot, 1 is BIOS."),
		text("output_directory", "output", "Folder in which the image gets one of its own.", notEmpty("output_directory")),
	)
	r.vars = append(r.vars, machineVariables()...)
	r.vars = append(r.vars, bootVariables("1s")...)
	r.source = func(b *body) {
		b.set("vm_name", "local.image")
		b.set("output_directory", `"${var.output_directory}/${local.image}"`)
		b.fromVars("iso_url", "iso_checksum", "switch_name")
		r.attributes(b)
		b.gap()
		b.fromVars("generation", "cpus")
		b.set("memory", "var.memory_mb")
		b.set("disk_size", "var.disk_mb")
		b.set("enable_secure_boot", "local.efi")
		b.set("secure_boot_template", `local.efi ? "MicrosoftWindows" : null`)
		b.comment("Containers under Hyper-V isolation would need it in the nodes, not here.")
		b.set("enable_virtualization_extensions", "false")
		b.comment("Hyper-V's drivers are part of Windows.")
		b.text("guest_additions_mode", "disable")
		r.cd(b)
		b.gap()
		b.fromVars("boot_command", "boot_wait")
		b.text("first_boot_device", "DVD")
		b.set("boot_order", `local.efi ? ["SCSI:0:0"] : null`)
		r.connect(b)
		shutdown(b)
	}
	r.notes = append(r.notes, "Packer has to run on the Hyper-V host, as administrator.",
		"There is no vTPM: the tested plugin has no switch for one. `Enable-VMTPM` adds it to a clone.")
}

func proxmox(r *render) {
	r.tools = "virtio"
	r.drivers = r.virtioDrivers()
	r.demandEFI()
	r.locals = append(r.locals, r.notesLocal(), local{name: "efi", expression: `var.firmware != "bios"`})
	r.vars = []Variable{
		needed("proxmox_url", "URL of the API: https://HOST:8006/api2/json."),
		needed("proxmox_username", "User of the API, with a token: packer@pve!build."),
		secret("proxmox_token", "Token of proxmox_username."),
		yesNo("proxmox_insecure", false, "Take any certificate for Proxmox's."),
		needed("node", "Node of the cluster that the machine is made on."),
		needed("storage_pool", "Storage of the disks."),
		needed("iso_storage_pool", "Storage that CDs are uploaded to."),
		text("bridge", "vmbr0", "Bridge of the machine, with DHCP behind it.", notEmpty("bridge")),
	}
	r.vars = append(r.vars, isoVariables()...)
	r.vars = append(r.vars,
		needed("virtio_iso_url", "URL or file of virtio-win.iso."),
		checksum("virtio_iso_checksum", "Sum of virtio-win.iso, sha256:... or sha512:..."),
		text("firmware", "efi-secure", "efi-secure, efi or bios.", oneOf("firmware", "efi-secure", "efi", "bios")),
		yesNo("vtpm", false, "Give the machine a TPM. It needs EFI."),
	)
	r.vars = append(r.vars, machineVariables()...)
	r.vars = append(r.vars, bootVariables("2s")...)
	r.source = r.proxmoxSource
	r.notes = append(r.notes, "The plugin for Proxmox couldn't be had where the other platforms were tested: this template was checked by `verify template` alone. `packer validate` it before you rely on it.",
		"Proxmox has no shutdown command of its own: Packer stops the machine through the guest agent once sysprep has ended.")
}

func (r *render) proxmoxSource(b *body) {
	b.fromVars("proxmox_url")
	b.set("username", "var.proxmox_username")
	b.set("token", "var.proxmox_token")
	b.set("insecure_skip_tls_verify", "var.proxmox_insecure")
	b.fromVars("node")
	b.gap()
	b.set("vm_name", "local.image")
	b.set("template_description", "local.notes")
	r.attributes(b)
	b.gap()
	b.text("os", "win11")
	b.text("machine", "q35")
	b.set("bios", `local.efi ? "ovmf" : "seabios"`)
	b.set("cores", "var.cpus")
	b.text("cpu_type", "host")
	b.set("memory", "var.memory_mb")
	b.text("scsi_controller", "virtio-scsi-single")
	b.set("qemu_agent", "true")
	b.gap()
	efi := b.block("dynamic", "efi_config")
	efi.set("for_each", "local.efi ? [1] : []")
	content := efi.block("content")
	content.set("efi_storage_pool", "var.storage_pool")
	content.text("efi_type", "4m")
	content.set("pre_enrolled_keys", `var.firmware == "efi-secure"`)
	b.gap()
	tpm := b.block("dynamic", "tpm_config")
	tpm.set("for_each", "var.vtpm ? [1] : []")
	content = tpm.block("content")
	content.set("tpm_storage_pool", "var.storage_pool")
	content.text("tpm_version", "v2.0")
	b.gap()
	disk := b.block("disks")
	disk.text("type", "scsi")
	disk.set("disk_size", `"${var.disk_mb}M"`)
	disk.set("storage_pool", "var.storage_pool")
	disk.text("format", "raw")
	disk.set("discard", "true")
	disk.set("io_thread", "true")
	b.gap()
	adapter := b.block("network_adapters")
	adapter.text("model", "virtio")
	adapter.set("bridge", "var.bridge")
	b.gap()
	boot := b.block("boot_iso")
	boot.fromVars("iso_url", "iso_checksum", "iso_storage_pool")
	boot.set("unmount", "true")
	b.gap()
	virtio := b.block("additional_iso_files")
	virtio.set("iso_url", "var.virtio_iso_url")
	virtio.set("iso_checksum", "var.virtio_iso_checksum")
	virtio.fromVars("iso_storage_pool")
	virtio.set("unmount", "true")
	b.gap()
	cd := b.block("additional_iso_files")
	cd.fromVars("iso_storage_pool")
	cd.set("unmount", "true")
	r.cd(cd)
	b.gap()
	b.fromVars("boot_command", "boot_wait")
	b.text("boot", "order=scsi0;ide2")
	r.connect(b)
}
