# Made by bake template. Values belong into a var-file: an edit here is in the way
# of the next run.

# Read before anything is made: a payload that isn't what it should be costs
# seconds here and an hour at the end.
data "winbake-payload" "node" {
  payload = var.payload
  digest  = var.payload_digest
  release = var.release
  profile = "openshift"
}

locals {
  notes         = "Windows Server 2025, openshift, payload ${data.winbake-payload.node.digest}"
  node_manifest = "${var.image_name}.node.json"
}

source "azure-arm" "windows" {
  subscription_id    = var.subscription_id
  use_azure_cli_auth = var.use_azure_cli_auth
  tenant_id          = var.tenant_id == "" ? null : var.tenant_id
  client_id          = var.client_id == "" ? null : var.client_id
  client_secret      = var.client_secret == "" ? null : var.client_secret
  location           = var.location
  vm_size            = var.vm_size

  os_type                            = "Windows"
  image_publisher                    = "MicrosoftWindowsServer"
  image_offer                        = "WindowsServer"
  image_sku                          = var.image_sku
  os_disk_size_gb                    = var.disk_gb
  managed_image_storage_account_type = "Premium_LRS"
  managed_image_name                 = var.image_name
  managed_image_resource_group_name  = var.resource_group
  azure_tags                         = { winbake = local.notes }

  dynamic "shared_image_gallery_destination" {
    for_each = var.gallery == "" ? [] : [var.gallery]
    content {
      subscription        = var.subscription_id
      resource_group      = var.resource_group
      gallery_name        = var.gallery
      image_name          = var.image_name
      image_version       = var.gallery_version
      replication_regions = [var.location]
    }
  }

  # Azure's images of Windows listen on WinRM alone at first boot; Packer makes the
  # certificate and the password.
  communicator   = "winrm"
  winrm_username = "packer"
  winrm_timeout  = var.connect_timeout
  winrm_use_ssl  = true
  winrm_insecure = true
}

build {
  sources = ["source.azure-arm.windows"]

  # C:\ProgramData\winbake has to be there before files are put into it.
  provisioner "powershell" {
    script = "${path.root}/scripts/ready.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/windows-release.ps1"
    env    = { WINBAKE_BUILD = var.os_build, WINBAKE_LANGUAGE = var.language }
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/no-runtime.ps1"
  }

  # Updates bring updates: three rounds, and a look at what is left. Windows refuses
  # both to remote sessions.
  provisioner "powershell" {
    script            = "${path.root}/scripts/updates.ps1"
    env               = { WINBAKE_UPDATES = var.updates }
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "windows-restart" {
    restart_timeout = "2h"
    check_registry  = true
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/updates.ps1"
    env               = { WINBAKE_UPDATES = var.updates }
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "windows-restart" {
    restart_timeout = "2h"
    check_registry  = true
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/updates.ps1"
    env               = { WINBAKE_UPDATES = var.updates }
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "windows-restart" {
    restart_timeout = "2h"
    check_registry  = true
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/updates-left.ps1"
    env               = { WINBAKE_UPDATES = var.updates, WINBAKE_ACCEPT = join(";", var.accept_missing_updates) }
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/windows-version.ps1"
    env    = { WINBAKE_BUILD = var.os_build }
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/features.ps1"
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "windows-restart" {
    restart_timeout = "30m"
    check_registry  = true
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/openssh.ps1"
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/firewall.ps1"
  }

  # Node files from the payload, byte for byte, the services of this profile, and
  # the node's check, whose findings end the build unless they are accepted.
  provisioner "winbake-node" {
    payload       = var.payload
    digest        = var.payload_digest
    profile       = "openshift"
    accept        = var.accept
    verify_binary = var.verify_binary
    manifest      = local.node_manifest
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/seal.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/azure-agent.ps1"
  }

  # Late: it takes Packer's own key away, and with it the way back in.
  provisioner "powershell" {
    script = "${path.root}/scripts/ssh-access.ps1"
    env    = { WINBAKE_KEYS = file(abspath(pathexpand(var.authorized_keys_file))) }
  }

  # The last step, and it survives a dropped connection: sysprep runs in a task, and
  # a second try waits for the first.
  provisioner "powershell" {
    script      = "${path.root}/scripts/generalize.ps1"
    env         = { WINBAKE_PROGRAM = "C:\\Windows\\System32\\Sysprep\\sysprep.exe", WINBAKE_ARGUMENTS = "/generalize /oobe /quit /quiet /mode:vm" }
    max_retries = 3
  }

  post-processor "winbake-manifest" {
    manifest = local.node_manifest
    output   = "${var.image_name}.winbake.json"
  }
}
