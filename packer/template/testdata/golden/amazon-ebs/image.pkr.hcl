# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

# Read before anything is made: a payload that isn't what it should be costs
# seconds here and an hour at the end.
data "winbake-payload" "node" {
  payload = var.payload == "" ? "" : can(regex("^([/~]|[A-Za-z-]+:)|@sha256:", var.payload)) ? pathexpand(var.payload) : abspath("${path.root}/${var.payload}")
  digest  = var.payload_digest
  release = var.release
  profile = "openshift"
}

locals {
  image = "${var.image_name}-${var.image_version == "" ? formatdate("YYYYMMDD-hhmm", timestamp()) : var.image_version}"
  company = jsonencode({
    proxy           = var.proxy
    no_proxy        = join(";", var.no_proxy)
    wsus_server     = var.wsus_server
    ca_certificates = var.ca_certificates_file == "" ? "" : file(local.ca_certificates_file)
  })
  notes                = "Windows Server 2022, openshift, payload ${data.winbake-payload.node.digest}"
  node_manifest        = "${local.image}.node.json"
  authorized_keys_file = var.authorized_keys_file == "" ? "" : can(regex("^([/~]|[A-Za-z]:)", var.authorized_keys_file)) ? pathexpand(var.authorized_keys_file) : abspath("${path.root}/${var.authorized_keys_file}")
  ca_certificates_file = var.ca_certificates_file == "" ? "" : can(regex("^([/~]|[A-Za-z]:)", var.ca_certificates_file)) ? pathexpand(var.ca_certificates_file) : abspath("${path.root}/${var.ca_certificates_file}")
  payload              = var.payload == "" ? "" : can(regex("^([/~]|[A-Za-z-]+:)|@sha256:", var.payload)) ? pathexpand(var.payload) : abspath("${path.root}/${var.payload}")
  verify_exe           = var.verify_exe == "" ? "" : can(regex("^([/~]|[A-Za-z]:)", var.verify_exe)) ? pathexpand(var.verify_exe) : abspath("${path.root}/${var.verify_exe}")
}

# What has to go together: packer validate ends here where it doesn't, with the reason
# as a file's name.
locals {
  key_of_encryption      = (var.kms_key_id == "" || var.encrypt_boot) ? true : file("kms_key_id and encrypt_boot: a key needs encryption")
  groups_or_networks     = (length(var.security_group_ids) == 0 || length(var.temporary_security_group_source_cidrs) == 0) ? true : file("security_group_ids or temporary_security_group_source_cidrs: not both, since groups have rules of their own")
  authorized_keys_file_1 = (can(regex("(?m)^\\s*(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh.com) AAAA", file(local.authorized_keys_file)))) ? true : file("authorized_keys_file: it has to be a file with public SSH keys, such as ~/.ssh/id_ed25519.pub")
  authorized_keys_file_2 = (!can(regex("PRIVATE KEY", file(local.authorized_keys_file)))) ? true : file("authorized_keys_file: it is a private key, and the image would carry it: give the .pub beside it")
  ca_certificates_file_1 = (var.ca_certificates_file == "" || can(regex("-----BEGIN CERTIFICATE-----", file(local.ca_certificates_file)))) ? true : file("ca_certificates_file: it has to be a file with certificates in PEM")
  ca_certificates_file_2 = (var.ca_certificates_file == "" || !can(regex("PRIVATE KEY", file(local.ca_certificates_file)))) ? true : file("ca_certificates_file: it has a private key in it, and the image would carry it")
}

source "amazon-ebs" "windows" {
  # Credentials come from where AWS's own tools take them: environment, profile, role.
  region                     = var.region
  skip_credential_validation = var.skip_credential_validation
  instance_type              = var.instance_type
  ami_name                   = local.image
  ami_description            = local.notes
  # The newest image of a name is the one with this tag and the latest date.
  tags         = { Name = local.image, image_name = var.image_name }
  encrypt_boot = var.encrypt_boot
  # No imds_support: WMCO asks a node's metadata for its name without a token, and an
  # image with v2.0 would have all its machines demand one.

  profile                               = var.profile == "" ? null : var.profile
  vpc_id                                = var.vpc_id == "" ? null : var.vpc_id
  subnet_id                             = var.subnet_id == "" ? null : var.subnet_id
  security_group_ids                    = length(var.security_group_ids) == 0 ? null : var.security_group_ids
  temporary_security_group_source_cidrs = length(var.temporary_security_group_source_cidrs) == 0 ? null : var.temporary_security_group_source_cidrs
  associate_public_ip_address           = var.private_address ? false : null
  ssh_interface                         = var.private_address ? "private_ip" : null
  iam_instance_profile                  = var.iam_instance_profile == "" ? null : var.iam_instance_profile
  kms_key_id                            = var.kms_key_id == "" ? null : var.kms_key_id
  ami_users                             = length(var.ami_users) == 0 ? null : var.ami_users

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

  user_data = "<powershell>\n${file(abspath("${path.root}/scripts/user-data.ps1"))}\n</powershell>"

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
    script      = "${path.root}/scripts/ready.ps1"
    max_retries = 3
  }

  provisioner "file" {
    source      = "${path.root}/scripts/restarted.ps1"
    destination = "C:/ProgramData/winbake/restarted.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/windows-release.ps1"
    env    = { WINBAKE_BUILD = var.os_build, WINBAKE_LANGUAGE = var.language }
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/no-runtime.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/company.ps1"
    env    = { WINBAKE_COMPANY = local.company }
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/extend-disk.ps1"
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
    restart_timeout       = "2h"
    restart_check_command = "powershell -executionpolicy bypass -file C:\\ProgramData\\winbake\\restarted.ps1"
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/updates.ps1"
    env               = { WINBAKE_UPDATES = var.updates }
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "windows-restart" {
    restart_timeout       = "2h"
    restart_check_command = "powershell -executionpolicy bypass -file C:\\ProgramData\\winbake\\restarted.ps1"
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/updates.ps1"
    env               = { WINBAKE_UPDATES = var.updates }
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "windows-restart" {
    restart_timeout       = "2h"
    restart_check_command = "powershell -executionpolicy bypass -file C:\\ProgramData\\winbake\\restarted.ps1"
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
    restart_timeout       = "30m"
    restart_check_command = "powershell -executionpolicy bypass -file C:\\ProgramData\\winbake\\restarted.ps1"
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
    payload       = local.payload
    digest        = var.payload_digest
    profile       = "openshift"
    accept        = [for id in var.accept : id if can(regex("^WIN", id))]
    verify_binary = local.verify_exe
    manifest      = local.node_manifest
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/node-settings.ps1"
    env               = { WINBAKE_TIME_ZONE = var.time_zone }
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  provisioner "powershell" {
    script            = "${path.root}/scripts/clean.ps1"
    max_retries       = 2
    elevated_user     = "SYSTEM"
    elevated_password = ""
  }

  # The cleanup may want a restart, and sysprep refuses a Windows that waits for one.
  provisioner "windows-restart" {
    restart_timeout       = "30m"
    restart_check_command = "powershell -executionpolicy bypass -file C:\\ProgramData\\winbake\\restarted.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/cloud-name.ps1"
    env    = { WINBAKE_PROFILE = "openshift" }
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/cloud-locale.ps1"
    env    = { WINBAKE_LOCALE = var.user_locale, WINBAKE_TIME_ZONE = var.time_zone }
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/seal.ps1"
    env    = { WINBAKE_PROXY = var.proxy }
  }

  # Late: it takes Packer's own key away, and with it the way back in.
  provisioner "powershell" {
    script = "${path.root}/scripts/ssh-access.ps1"
    env    = { WINBAKE_KEYS = file(local.authorized_keys_file) }
  }

  # The image's check: what is wrong with it ends the build here.
  provisioner "winbake-node" {
    check         = "image"
    profile       = "openshift"
    accept        = [for id in var.accept : id if can(regex("^image", id))]
    payload       = local.payload
    digest        = var.payload_digest
    verify_binary = local.verify_exe
  }

  # The last step. It survives a dropped connection: sysprep runs in a task, and
  # a second try waits for the first.
  provisioner "powershell" {
    script      = "${path.root}/scripts/generalize.ps1"
    env         = { WINBAKE_PROGRAM = "C:\\Program Files\\Amazon\\EC2Launch\\EC2Launch.exe", WINBAKE_ARGUMENTS = "sysprep --clean" }
    max_retries = 3
  }

  post-processor "manifest" {
    output      = "${local.image}.packer.json"
    custom_data = { payload = var.payload_digest, node_manifest = local.node_manifest }
  }
}
