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

source "amazon-ebs" "windows" {
  # Credentials come from where AWS's own tools take them: environment, profile, role.
  region                     = var.region
  skip_credential_validation = var.skip_credential_validation
  instance_type              = var.instance_type
  subnet_id                  = var.subnet_id == "" ? null : var.subnet_id
  ami_name                   = "${var.image_name}-{{timestamp}}"
  ami_description            = local.notes
  encrypt_boot               = var.encrypt_boot
  imds_support               = "v2.0"

  source_ami_filter {
    filters     = { name = var.source_ami_name, virtualization-type = "hvm", root-device-type = "ebs" }
    owners      = ["amazon"]
    most_recent = true
  }

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "required"
  }

  launch_block_device_mappings {
    device_name           = "/dev/sda1"
    volume_size           = var.disk_gb
    volume_type           = "gp3"
    delete_on_termination = true
  }

  user_data = "<powershell>\n${file("${path.root}/scripts/user-data.ps1")}\n</powershell>"

  communicator = "ssh"
  ssh_username = "Administrator"
  # EC2 knows no ed25519 keys for Windows.
  temporary_key_pair_type  = "rsa"
  ssh_timeout              = var.connect_timeout
  ssh_file_transfer_method = "sftp"
}

build {
  sources = ["source.amazon-ebs.windows"]

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

  # Late: it takes Packer's own key away, and with it the way back in.
  provisioner "powershell" {
    script = "${path.root}/scripts/ssh-access.ps1"
    env    = { WINBAKE_KEYS = file(abspath(pathexpand(var.authorized_keys_file))) }
  }

  # The last step, and it survives a dropped connection: sysprep runs in a task, and
  # a second try waits for the first.
  provisioner "powershell" {
    script      = "${path.root}/scripts/generalize.ps1"
    env         = { WINBAKE_PROGRAM = "C:\\Program Files\\Amazon\\EC2Launch\\EC2Launch.exe", WINBAKE_ARGUMENTS = "sysprep --clean" }
    max_retries = 3
  }

  post-processor "winbake-manifest" {
    manifest = local.node_manifest
    output   = "${var.image_name}.winbake.json"
  }
}
