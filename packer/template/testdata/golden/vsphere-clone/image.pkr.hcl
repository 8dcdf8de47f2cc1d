# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

# Read before anything is made: a payload that isn't what it should be costs
# seconds here and an hour at the end.
data "winbake-payload" "node" {
  payload = var.payload == "" ? "" : can(regex("^([/~]|[A-Za-z-]+:)|@sha256:", var.payload)) ? pathexpand(var.payload) : abspath("${path.root}/${var.payload}")
  digest  = var.payload_digest
  release = var.release
  profile = "openshift"

  # WinRM is too slow for these files: the machine fetches them from Packer.
  unpack = var.communicator == "winrm"
}

local "one_time_password" {
  expression = "aA1!${uuidv4()}"
  sensitive  = true
}

local "one_time_encoded" {
  expression = textencodebase64("${local.one_time_password}AdministratorPassword", "UTF-16LE")
  sensitive  = true
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
  place_given            = (var.cluster != "" || var.host != "") ? true : file("cluster or host: one of them, since the machine has to be somewhere")
  authorized_keys_file_1 = (can(regex("(?m)^\\s*(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh.com) AAAA", file(local.authorized_keys_file)))) ? true : file("authorized_keys_file: it has to be a file with public SSH keys, such as ~/.ssh/id_ed25519.pub")
  authorized_keys_file_2 = (!can(regex("PRIVATE KEY", file(local.authorized_keys_file)))) ? true : file("authorized_keys_file: it is a private key, and the image would carry it: give the .pub beside it")
  ca_certificates_file_1 = (var.ca_certificates_file == "" || can(regex("-----BEGIN CERTIFICATE-----", file(local.ca_certificates_file)))) ? true : file("ca_certificates_file: it has to be a file with certificates in PEM")
  ca_certificates_file_2 = (var.ca_certificates_file == "" || !can(regex("PRIVATE KEY", file(local.ca_certificates_file)))) ? true : file("ca_certificates_file: it has a private key in it, and the image would carry it")
}

source "vsphere-clone" "windows" {
  vcenter_server      = var.vcenter_server
  username            = var.vcenter_username
  password            = var.vcenter_password
  insecure_connection = var.vcenter_insecure

  datacenter = var.datacenter
  datastore  = var.datastore

  cluster                        = var.cluster == "" ? null : var.cluster
  host                           = var.host == "" ? null : var.host
  folder                         = var.folder == "" ? null : var.folder
  resource_pool                  = var.resource_pool == "" ? null : var.resource_pool
  set_host_for_datastore_uploads = var.set_host_for_datastore_uploads
  ip_wait_address                = var.ip_wait_address == "" ? null : var.ip_wait_address
  ip_settle_timeout              = var.ip_settle_timeout == "" ? null : var.ip_settle_timeout
  create_snapshot                = var.snapshot != ""
  snapshot_name                  = var.snapshot == "" ? null : var.snapshot

  vm_name = local.image
  notes   = local.notes
  CPUs    = var.cpus
  RAM     = var.memory_mb
  # Without it Windows shows no serial numbers of disks, by which the CSI driver finds
  # them. OpenShift checks it of hosts that it installs
  # (https://github.com/openshift/assisted-service/pull/5416); the Machine API and WMCO
  # set it nowhere.
  configuration_parameters = { "disk.EnableUUID" = "TRUE" }

  template        = var.template
  linked_clone    = var.linked_clone
  network         = var.network
  disk_size       = var.linked_clone ? null : var.disk_mb
  ip_wait_timeout = var.connect_timeout

  communicator = var.communicator
  ssh_username = "Administrator"
  ssh_password = var.admin_password
  ssh_port     = var.ssh_port
  ssh_timeout  = var.connect_timeout
  # scp would need a program on the machine that not every OpenSSH has.
  ssh_file_transfer_method = "sftp"
  winrm_username           = "Administrator"
  winrm_password           = var.admin_password
  winrm_timeout            = var.connect_timeout
  winrm_use_ssl            = true
  winrm_insecure           = true
  http_directory           = var.communicator == "winrm" ? data.winbake-payload.node.directory : null

  shutdown_command = "shutdown.exe /s /t 10 /f /d p:4:1 /c winbake"
  shutdown_timeout = "30m"

  convert_to_template = var.content_library == "" && var.export_directory == ""

  dynamic "content_library_destination" {
    for_each = var.content_library == "" ? [] : [var.content_library]
    content {
      library     = var.content_library
      name        = var.image_name
      description = local.notes
      ovf         = true
      destroy     = true
    }
  }

  dynamic "export" {
    for_each = var.export_directory == "" ? [] : [var.export_directory]
    content {
      output_directory = var.export_directory
      output_format    = var.export_format
    }
  }
}

build {
  sources = ["source.vsphere-clone.windows"]

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
    script = "${path.root}/scripts/vmware-tools.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/tools-conf.ps1"
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

  provisioner "powershell" {
    script = "${path.root}/scripts/ssh-access.ps1"
    env    = { WINBAKE_KEYS = file(local.authorized_keys_file) }
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

  provisioner "file" {
    source      = "${path.root}/scripts/first-boot.ps1"
    destination = "C:/ProgramData/winbake/first-boot.ps1"
  }

  provisioner "file" {
    source      = "${path.root}/scripts/host-name.ps1"
    destination = "C:/ProgramData/winbake/host-name.ps1"
  }

  provisioner "file" {
    content = templatefile(abspath("${path.root}/answers/unattend.xml.pkrtpl"), {
      language         = var.language
      time_zone        = var.time_zone
      locale           = var.user_locale
      password         = local.one_time_encoded
      host_name_prefix = var.host_name_prefix
    })
    destination = "C:/ProgramData/winbake/unattend.xml"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/seal.ps1"
    env    = { WINBAKE_PROXY = var.proxy }
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
    env         = { WINBAKE_PROGRAM = "C:\\Windows\\System32\\Sysprep\\sysprep.exe", WINBAKE_ARGUMENTS = "/generalize /oobe /quit /quiet /unattend:C:\\ProgramData\\winbake\\unattend.xml" }
    max_retries = 3
  }

  post-processor "manifest" {
    output      = "${local.image}.packer.json"
    custom_data = { payload = var.payload_digest, node_manifest = local.node_manifest }
  }
}
