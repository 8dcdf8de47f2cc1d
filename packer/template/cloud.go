package template

// Platforms whose own images of Windows are reachable at first boot, and whose
// agents know how to generalize them.

// connectTimeout is the one thing about reaching a cloud's machine that people
// change.
func connectTimeout() Variable {
	return text("connect_timeout", "1h", "How long Windows may take until it can be reached, such as 1h.",
		matches("connect_timeout", `^[0-9]+[mh]$`, "connect_timeout has to be such as 90m or 4h", false))
}

func amazon(r *render) {
	r.media = fromCloud
	r.communicator = "ssh"
	r.sysprep = [2]string{`C:\Program Files\Amazon\EC2Launch\EC2Launch.exe`, "sysprep --clean"}
	r.locals = append(r.locals, r.notesLocal())
	r.vars = []Variable{
		needed("region", "Region in which the image is made.", matches("region", `^[a-z]{2,}(-[a-z]+)+-[0-9]+$`, "region has to be such as us-east-1", false)),
		text("instance_type", "m6i.xlarge", "Type of the instance that the image is made on.", notEmpty("instance_type")),
		text("subnet_id", "", "Subnet of the instance. Empty is the default VPC's.", matches("subnet_id", `^subnet-[0-9a-f]+$`, "subnet_id has to be such as subnet-0123abcd", true)),
		text("source_ami_name", r.release().ami, "Name of Amazon's image; the newest one is taken.", notEmpty("source_ami_name"), r.ofRelease("source_ami_name")),
		amount("disk_gb", 128, 40, "Size of the disk in GB."),
		yesNo("encrypt_boot", true, "Encrypt the image's snapshot."),
		yesNo("skip_credential_validation", false, "Don't ask AWS whether credentials are good: for packer validate without a network."),
		connectTimeout(),
	}
	r.source = func(b *body) {
		b.comment("Credentials come from where AWS's own tools take them: environment, profile, role.")
		b.fromVars("region", "skip_credential_validation", "instance_type")
		b.set("subnet_id", `var.subnet_id == "" ? null : var.subnet_id`)
		b.set("ami_name", `"${var.image_name}-{{timestamp}}"`)
		b.set("ami_description", "local.notes")
		b.fromVars("encrypt_boot")
		b.text("imds_support", "v2.0")
		b.gap()
		filter := b.block("source_ami_filter")
		filter.set("filters", `{ name = var.source_ami_name, virtualization-type = "hvm", root-device-type = "ebs" }`)
		filter.set("owners", `["amazon"]`)
		filter.set("most_recent", "true")
		b.gap()
		metadata := b.block("metadata_options")
		metadata.text("http_endpoint", "enabled")
		metadata.text("http_tokens", "required")
		b.gap()
		disk := b.block("launch_block_device_mappings")
		disk.text("device_name", "/dev/sda1")
		disk.set("volume_size", "var.disk_gb")
		disk.text("volume_type", "gp3")
		disk.set("delete_on_termination", "true")
		b.gap()
		b.set("user_data", `"<powershell>\n${file("${path.root}/scripts/user-data.ps1")}\n</powershell>"`)
		b.gap()
		b.text("communicator", "ssh")
		b.text("ssh_username", "Administrator")
		b.comment("EC2 knows no ed25519 keys for Windows.")
		b.text("temporary_key_pair_type", "rsa")
		b.set("ssh_timeout", "var.connect_timeout")
		b.text("ssh_file_transfer_method", "sftp")
	}
	r.notes = append(r.notes, "A connection that drops while sysprep runs ends the build here: Packer's own key is out of the image by then.",
		"EC2Launch gives each instance a password of its own at first boot; the operator's user data brings the key.")
}

func azure(r *render) {
	r.media = fromCloud
	r.communicator = "winrm"
	r.before = "azure-agent"
	r.sysprep = [2]string{`C:\Windows\System32\Sysprep\sysprep.exe`, "/generalize /oobe /quit /quiet /mode:vm"}
	r.locals = append(r.locals, r.notesLocal())
	r.vars = []Variable{
		needed("subscription_id", "Subscription in which the image is made.", isGUID("subscription_id", false)),
		text("tenant_id", "", "Tenant. Empty is the subscription's.", isGUID("tenant_id", true)),
		text("client_id", "", "Service principal. Empty where use_azure_cli_auth is true.", isGUID("client_id", true)),
		{Name: "client_secret", Type: "string", Default: `""`, Sensitive: true, Description: "Secret of client_id. Empty where use_azure_cli_auth is true."},
		yesNo("use_azure_cli_auth", false, "Take the login of the az command."),
		needed("location", "Region in which the image is made."),
		needed("resource_group", "Resource group of the image."),
		text("gallery", "", "Shared image gallery to publish to as well. Empty for none."),
		text("gallery_version", "1.0.0", "Version in the gallery.", matches("gallery_version", `^[0-9]+\.[0-9]+\.[0-9]+$`, "gallery_version has to be such as 1.0.0", false)),
		text("vm_size", "Standard_D4s_v3", "Size of the machine that the image is made on.", notEmpty("vm_size")),
		text("image_sku", r.release().azure, "SKU of Microsoft's image, of the second generation.", notEmpty("image_sku"), r.ofRelease("image_sku")),
		amount("disk_gb", 128, 127, "Size of the disk in GB."),
		connectTimeout(),
	}
	r.source = func(b *body) {
		b.fromVars("subscription_id", "use_azure_cli_auth")
		for _, n := range []string{"tenant_id", "client_id", "client_secret"} {
			b.set(n, `var.`+n+` == "" ? null : var.`+n)
		}
		b.fromVars("location", "vm_size")
		b.gap()
		b.text("os_type", "Windows")
		b.text("image_publisher", "MicrosoftWindowsServer")
		b.text("image_offer", "WindowsServer")
		b.fromVars("image_sku")
		b.set("os_disk_size_gb", "var.disk_gb")
		b.text("managed_image_storage_account_type", "Premium_LRS")
		b.set("managed_image_name", "var.image_name")
		b.set("managed_image_resource_group_name", "var.resource_group")
		b.set("azure_tags", "{ winbake = local.notes }")
		b.gap()
		gallery := b.block("dynamic", "shared_image_gallery_destination")
		gallery.set("for_each", `var.gallery == "" ? [] : [var.gallery]`)
		content := gallery.block("content")
		content.set("subscription", "var.subscription_id")
		content.set("resource_group", "var.resource_group")
		content.set("gallery_name", "var.gallery")
		content.set("image_name", "var.image_name")
		content.set("image_version", "var.gallery_version")
		content.set("replication_regions", "[var.location]")
		b.gap()
		b.comment("Azure's images of Windows listen on WinRM alone at first boot; Packer makes the\ncertificate and the password.")
		b.text("communicator", "winrm")
		b.text("winrm_username", "packer")
		b.set("winrm_timeout", "var.connect_timeout")
		b.set("winrm_use_ssl", "true")
		b.set("winrm_insecure", "true")
	}
	r.notes = append(r.notes, "Secure boot and a TPM are the machine's own choice on Azure (trusted launch), not the image's.",
		"Packer gets in over WinRM, which is slow for large files: count on half an hour more than elsewhere.",
		"Azure's agent gives each machine its password at first boot; the operator's user data brings the key.")
}

// isGUID is an ID as Azure has them. empty lets "" pass too.
func isGUID(name string, empty bool) Rule {
	return matches(name, `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`, name+" has to be such as 00000000-0000-0000-0000-000000000000", empty)
}

func google(r *render) {
	r.media = fromCloud
	r.communicator = "ssh"
	r.sysprep = [2]string{`C:\Windows\System32\cmd.exe`, `/c ""C:\Program Files\Google\Compute Engine\sysprep\gcesysprep.bat" -NoShutdown"`}
	r.locals = append(r.locals, r.notesLocal())
	r.vars = []Variable{
		needed("project_id", "Project in which the image is made."),
		needed("zone", "Zone in which the image is made."),
		text("subnetwork", "", "Subnetwork of the machine. Empty is the default network's."),
		text("machine_type", "n2-standard-4", "Type of the machine that the image is made on.", notEmpty("machine_type")),
		text("source_image_family", r.release().google, "Family of Google's image; the newest one is taken.", notEmpty("source_image_family"), r.ofRelease("source_image_family")),
		text("image_family", "windows-nodes", "Family of the image that is made.", matches("image_family", `^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`, "image_family has to be lower case letters, digits and dashes", false)),
		amount("disk_gb", 128, 50, "Size of the disk in GB."),
		yesNo("vtpm", true, "Give the machine a TPM, as Google does by default."),
		connectTimeout(),
	}
	r.source = func(b *body) {
		b.comment("Credentials come from where Google's own tools take them.")
		b.fromVars("project_id", "zone", "machine_type")
		b.set("subnetwork", `var.subnetwork == "" ? null : var.subnetwork`)
		b.fromVars("source_image_family")
		b.set("source_image_project_id", `["windows-cloud"]`)
		b.set("image_name", `"${var.image_name}-{{timestamp}}"`)
		b.fromVars("image_family")
		b.set("image_description", "local.notes")
		b.set("image_guest_os_features", `["WINDOWS", "UEFI_COMPATIBLE", "GVNIC"]`)
		b.set("disk_size", "var.disk_gb")
		b.text("disk_type", "pd-ssd")
		b.set("enable_secure_boot", "true")
		b.set("enable_vtpm", "var.vtpm")
		b.set("enable_integrity_monitoring", "var.vtpm")
		b.gap()
		b.comment("Google's own way to SSH on Windows: the agent takes Packer's key from the metadata.")
		b.set("metadata", `{ enable-windows-ssh = "TRUE", sysprep-specialize-script-cmd = "googet -noconfirm=true install google-compute-engine-ssh" }`)
		b.gap()
		b.text("communicator", "ssh")
		b.text("ssh_username", "packer")
		b.set("ssh_timeout", "var.connect_timeout")
		b.text("ssh_file_transfer_method", "sftp")
	}
	r.notes = append(r.notes, "The operator's user data brings the key to each machine at first boot.")
}
