# Made by bake template. Values belong into a var-file: an edit here is in the way
# of the next run.

# Read before anything is made: a payload that isn't what it should be costs
# seconds here and an hour at the end.
data "winbake-payload" "node" {
  payload = var.payload
  digest  = var.payload_digest
  release = var.release
  profile = "generic"
}

locals {
  notes         = "Windows Server 2022, generic, payload ${data.winbake-payload.node.digest}"
  node_manifest = "${var.image_name}.node.json"
}

source "googlecompute" "windows" {
  # Credentials come from where Google's own tools take them.
  project_id                  = var.project_id
  zone                        = var.zone
  machine_type                = var.machine_type
  subnetwork                  = var.subnetwork == "" ? null : var.subnetwork
  source_image_family         = var.source_image_family
  source_image_project_id     = ["windows-cloud"]
  image_name                  = "${var.image_name}-{{timestamp}}"
  image_family                = var.image_family
  image_description           = local.notes
  image_guest_os_features     = ["WINDOWS", "UEFI_COMPATIBLE", "GVNIC"]
  disk_size                   = var.disk_gb
  disk_type                   = "pd-ssd"
  enable_secure_boot          = true
  enable_vtpm                 = var.vtpm
  enable_integrity_monitoring = var.vtpm

  # Google's own way to SSH on Windows: the agent takes Packer's key from the metadata.
  metadata = { enable-windows-ssh = "TRUE", sysprep-specialize-script-cmd = "googet -noconfirm=true install google-compute-engine-ssh" }

  communicator             = "ssh"
  ssh_username             = "packer"
  ssh_timeout              = var.connect_timeout
  ssh_file_transfer_method = "sftp"
}

build {
  sources = ["source.googlecompute.windows"]

  # C:\ProgramData\winbake has to be there before files are put into it.
  provisioner "powershell" {
    script = "${path.root}/scripts/ready.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/windows-release.ps1"
    env    = { WINBAKE_BUILD = var.os_build, WINBAKE_LANGUAGE = var.language }
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
    profile       = "generic"
    accept        = var.accept
    verify_binary = var.verify_binary
    manifest      = local.node_manifest
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/seal.ps1"
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
    env         = { WINBAKE_PROGRAM = "C:\\Windows\\System32\\cmd.exe", WINBAKE_ARGUMENTS = "/c \"\"C:\\Program Files\\Google\\Compute Engine\\sysprep\\gcesysprep.bat\" -NoShutdown\"" }
    max_retries = 3
  }

  post-processor "winbake-manifest" {
    manifest = local.node_manifest
    output   = "${var.image_name}.winbake.json"
  }
}
