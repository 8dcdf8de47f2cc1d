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
	r.communicator = "ssh"
	r.sysprep = [2]string{`C:\Program Files\Amazon\EC2Launch\EC2Launch.exe`, "sysprep --clean"}
	r.locals = append(r.locals, r.notesLocal())
	r.vars = []Variable{
		needed("region", "Region in which the image is made.", matches("region", `^[a-z]{2,}(-[a-z]+)+-[0-9]+$`, "region has to be such as us-east-1", false)),
		text("instance_type", "m6i.xlarge", "Type of the instance that the image is made on.", notEmpty("instance_type")),
		text("source_ami_name", r.release().ami, "Name of Amazon's image; the newest one is taken.", notEmpty("source_ami_name"), r.ofRelease("source_ami_name")),
		amount("disk_gb", 128, 40, "Size of the disk in GB."),
		yesNo("encrypt_boot", true, "Encrypt the image's snapshot."),
		yesNo("skip_credential_validation", false, "Don't ask AWS whether credentials are good: for packer validate without a network."),
		connectTimeout(),
	}
	r.demand(demand{"key_of_encryption", `var.kms_key_id == "" || var.encrypt_boot`, "kms_key_id and encrypt_boot: a key needs encryption", "leave encrypt_boot out"})
	r.demand(demand{"groups_or_networks", `length(var.security_group_ids) == 0 || length(var.temporary_security_group_source_cidrs) == 0`, "security_group_ids or temporary_security_group_source_cidrs: not both, since groups have rules of their own", "leave one of them out"})
	r.source = func(b *body) {
		b.comment("Credentials come from where AWS's own tools take them: environment, profile, role.")
		b.fromVars("region", "skip_credential_validation", "instance_type")
		b.set("ami_name", "local.image")
		b.set("ami_description", "local.notes")
		b.comment("The newest image of a name is the one with this tag and the latest date.")
		b.set("tags", `{ Name = local.image, image_name = var.image_name }`)
		b.fromVars("encrypt_boot")
		if r.Profile == OpenShift { // getHostnameCmd in its pkg/services/services.go
			b.comment("No imds_support: WMCO asks a node's metadata for its name without a token, and an\nimage with v2.0 would have all its machines demand one.")
		} else {
			b.text("imds_support", "v2.0")
		}
		r.attributes(b)
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
		b.set("user_data", `"<powershell>\n${file(abspath("${path.root}/scripts/user-data.ps1"))}\n</powershell>"`)
		b.gap()
		b.text("communicator", "ssh")
		b.text("ssh_username", "Administrator")
		b.comment("EC2 knows no ed25519 keys for Windows.")
		b.text("temporary_key_pair_type", "rsa")
		b.set("ssh_timeout", "var.connect_timeout")
		b.text("ssh_file_transfer_method", "sftp")
	}
	if r.Profile == OpenShift {
		r.notes = append(r.notes, "The operator asks the metadata service for a node's name without a token: the MachineSet's metadataServiceOptions can't have `authentication: Required`.")
	}
	r.notes = append(r.notes, "A connection that drops while sysprep runs ends the build here: Packer's own key is out of the image by then.",
		"EC2Launch gives each instance a password of its own at first boot; the operator's user data brings the key.")
}

func azure(r *render) {
	r.communicator = "winrm"
	r.before = "azure-agent"
	r.sysprep = [2]string{`C:\Windows\System32\Sysprep\sysprep.exe`, "/generalize /oobe /quit /quiet /mode:vm"}
	r.locals = append(r.locals, r.notesLocal())
	r.vars = []Variable{
		needed("subscription_id", "Subscription in which the image is made.", matches("subscription_id", `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`, "subscription_id has to be such as 00000000-0000-0000-0000-000000000000", false)),
		{Name: "client_secret", Type: "string", Default: `""`, Sensitive: true, Description: "Secret of client_id. Empty where use_azure_cli_auth is true."},
		yesNo("use_azure_cli_auth", false, "Take the login of the az command."),
		needed("location", "Region in which the image is made."),
		needed("resource_group", "Resource group of the image."),
		text("gallery", "", "Shared image gallery to publish to as well. Empty for none."),
		text("gallery_version", "", "Version in the gallery. Empty is the time of the build: 2026.11.230413.", matches("gallery_version", `^[0-9]+\.[0-9]+\.[0-9]+$`, "gallery_version has to be such as 1.0.0", true)),
		text("vm_size", "Standard_D4s_v3", "Size of the machine that the image is made on.", notEmpty("vm_size")),
		text("image_sku", r.release().azure, "SKU of Microsoft's image, of the second generation.", notEmpty("image_sku"), r.ofRelease("image_sku")),
		amount("disk_gb", 128, 127, "Size of the disk in GB."),
		connectTimeout(),
	}
	r.demand(demand{"network_or_addresses", `var.virtual_network_name == "" || length(var.allowed_inbound_ip_addresses) == 0`, "virtual_network_name or allowed_inbound_ip_addresses: not both, since a network's own rules decide who gets in", "leave one of them out"})
	r.demand(demand{"subnet_of_network", `var.virtual_network_name != "" || var.virtual_network_subnet_name == "" && var.virtual_network_resource_group_name == ""`, "virtual_network_subnet_name and virtual_network_name: a subnet and a resource group need the network", "add virtual_network_name"})
	r.demand(demand{"key_vault_of_group", `var.build_key_vault_name == "" || var.build_resource_group_name != ""`, "build_key_vault_name and build_resource_group_name: a key vault is in a group that is there already", "add build_resource_group_name"})
	r.demand(demand{"credentials_given", `var.use_azure_cli_auth || var.client_id != ""`, "client_id or use_azure_cli_auth: one of them, since Packer has to log on", "give client_id and the secret PKR_VAR_client_secret, or use_azure_cli_auth = true"})
	r.source = func(b *body) {
		b.fromVars("subscription_id", "use_azure_cli_auth")
		b.set("client_secret", `var.client_secret == "" ? null : var.client_secret`)
		b.comment("The plugin takes the region of build_resource_group_name.")
		b.set("location", `var.build_resource_group_name == "" ? var.location : null`)
		b.fromVars("vm_size")
		r.attributes(b)
		b.gap()
		b.text("os_type", "Windows")
		b.text("image_publisher", "MicrosoftWindowsServer")
		b.text("image_offer", "WindowsServer")
		b.fromVars("image_sku")
		b.set("os_disk_size_gb", "var.disk_gb")
		b.text("managed_image_storage_account_type", "Premium_LRS")
		b.set("managed_image_name", "local.image")
		b.set("managed_image_resource_group_name", "var.resource_group")
		b.set("azure_tags", "{ winbake = local.notes, image_name = var.image_name }")
		b.gap()
		gallery := b.block("dynamic", "shared_image_gallery_destination")
		gallery.set("for_each", `var.gallery == "" ? [] : [var.gallery]`)
		content := gallery.block("content")
		content.set("subscription", "var.subscription_id")
		content.set("resource_group", "var.resource_group")
		content.set("gallery_name", "var.gallery")
		content.set("image_name", "var.image_name")
		content.set("image_version", `var.gallery_version == "" ? formatdate("YYYY.M.Dhhmm", timestamp()) : var.gallery_version`)
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

func google(r *render) {
	r.communicator = "ssh"
	r.sysprep = [2]string{`C:\Windows\System32\cmd.exe`, `/c ""C:\Program Files\Google\Compute Engine\sysprep\gcesysprep.bat" -NoShutdown"`}
	r.locals = append(r.locals, r.notesLocal())
	r.vars = []Variable{
		needed("project_id", "Project in which the image is made."),
		needed("zone", "Zone in which the image is made."),
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
		b.fromVars("source_image_family")
		b.set("source_image_project_id", `["windows-cloud"]`)
		b.set("image_name", "local.image")
		b.fromVars("image_family")
		b.set("image_description", "local.notes")
		b.set("image_guest_os_features", `["WINDOWS", "UEFI_COMPATIBLE", "GVNIC"]`)
		b.set("disk_size", "var.disk_gb")
		b.text("disk_type", "pd-ssd")
		b.set("enable_secure_boot", "true")
		b.set("enable_vtpm", "var.vtpm")
		b.set("enable_integrity_monitoring", "var.vtpm")
		r.attributes(b)
		b.gap()
		b.comment("Windows' own OpenSSH, as the operator's user data brings it to nodes under the\nsame key (https://github.com/openshift/machine-api-provider-gcp). With Google's\nenable-windows-ssh the image would have its agent's sshd and an account packer.")
		b.set("metadata", `{ sysprep-specialize-script-ps1 = file(abspath("${path.root}/scripts/user-data.ps1")) }`)
		b.gap()
		b.text("communicator", "ssh")
		b.text("ssh_username", "Administrator")
		b.comment("The kind of key that every sshd of Windows takes.")
		b.text("temporary_key_pair_type", "rsa")
		b.set("ssh_timeout", "var.connect_timeout")
		b.text("ssh_file_transfer_method", "sftp")
	}
	r.notes = append(r.notes, "The operator's user data brings the key to each machine at first boot.")
}
