# Made by bake template. Values belong into a var-file: an edit here is in the way
# of the next run.

# Read before anything is made: a payload that isn't what it should be costs
# seconds here and an hour at the end.
data "winbake-payload" "node" {
  payload = var.payload
  digest  = var.payload_digest
  release = var.release
  profile = "generic"

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

local "admin_encoded" {
  expression = textencodebase64("${var.admin_password}AdministratorPassword", "UTF-16LE")
  sensitive  = true
}

local "logon_encoded" {
  expression = textencodebase64("${var.admin_password}Password", "UTF-16LE")
  sensitive  = true
}

locals {
  notes         = "Windows Server 2022, generic, payload ${data.winbake-payload.node.digest}"
  efi           = var.firmware != "bios"
  node_manifest = "${var.image_name}.node.json"
}

# What has to go together: packer validate ends here where it doesn't, with the reason
# in place of a file's name.
locals {
  iso_given         = var.iso_path != "" || var.iso_url != "" ? true : file("iso_path or iso_url: neither is given, and there is no Windows to install")
  openssh_sum_given = var.openssh_zip == "" || var.openssh_sha256 != "" ? true : file("openssh_sha256: it isn't given, and openssh_zip is")
}

source "vsphere-iso" "windows" {
  vcenter_server      = var.vcenter_server
  username            = var.vcenter_username
  password            = var.vcenter_password
  insecure_connection = var.vcenter_insecure

  datacenter    = var.datacenter
  cluster       = var.cluster == "" ? null : var.cluster
  host          = var.host == "" ? null : var.host
  folder        = var.folder == "" ? null : var.folder
  resource_pool = var.resource_pool == "" ? null : var.resource_pool
  datastore     = var.datastore

  vm_name = var.image_name
  notes   = local.notes
  CPUs    = var.cpus
  RAM     = var.memory_mb

  # Windows Server 2022's id: vSphere's ids are one release behind their names.
  guest_os_type        = "windows2019srvNext_64Guest"
  vm_version           = var.hardware_version
  firmware             = var.firmware
  vTPM                 = var.vtpm
  disk_controller_type = ["pvscsi"]
  cdrom_type           = "sata"

  storage {
    disk_size             = var.disk_mb
    disk_thin_provisioned = true
  }

  network_adapters {
    network      = var.network
    network_card = "vmxnet3"
  }

  iso_paths    = var.iso_path == "" ? [var.tools_iso_path] : [var.iso_path, var.tools_iso_path]
  iso_url      = var.iso_url == "" ? null : var.iso_url
  iso_checksum = var.iso_url == "" ? null : var.iso_checksum

  cd_label = "PROVISION"
  cd_content = {
    "autounattend.xml" = templatefile("${path.root}/answers/autounattend.xml.pkrtpl", {
      efi             = local.efi
      has_product_key = var.product_key != ""
      product_key     = var.product_key
      image_key       = can(regex("^[0-9]+$", var.windows_image)) ? "INDEX" : "NAME"
      image_value     = var.windows_image
      language        = var.language
      time_zone       = var.time_zone
      password        = local.admin_encoded
      auto_logon      = local.logon_encoded
    })
    "winbake.ps1" = file("${path.root}/scripts/winbake.ps1")
    "tools.ps1"   = file("${path.root}/scripts/vmware-tools.ps1")
    "reach.ps1"   = file(var.communicator == "ssh" ? "${path.root}/scripts/openssh.ps1" : "${path.root}/scripts/winrm.ps1")
    "openssh.sum" = "${var.openssh_sha256}\n"
  }
  cd_files = var.openssh_zip == "" ? [] : [abspath(pathexpand(var.openssh_zip))]

  boot_command    = var.boot_command
  boot_wait       = var.boot_wait
  boot_order      = "disk,cdrom"
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

  remove_cdrom        = true
  convert_to_template = true
}

build {
  sources = ["source.vsphere-iso.windows"]

  # C:\ProgramData\winbake has to be there before files are put into it.
  provisioner "powershell" {
    script = "${path.root}/scripts/ready.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/windows-release.ps1"
    env    = { WINBAKE_BUILD = var.os_build, WINBAKE_LANGUAGE = var.language }
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/vmware-tools.ps1"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/tools-conf.ps1"
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

  provisioner "powershell" {
    script = "${path.root}/scripts/ssh-access.ps1"
    env    = { WINBAKE_KEYS = file(abspath(pathexpand(var.authorized_keys_file))) }
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

  provisioner "file" {
    source      = "${path.root}/scripts/first-boot.ps1"
    destination = "C:/ProgramData/winbake/first-boot.ps1"
  }

  provisioner "file" {
    source      = "${path.root}/scripts/host-name.ps1"
    destination = "C:/ProgramData/winbake/host-name.ps1"
  }

  provisioner "file" {
    content = templatefile("${path.root}/answers/unattend.xml.pkrtpl", {
      language         = var.language
      time_zone        = var.time_zone
      password         = local.one_time_encoded
      host_name_prefix = var.host_name_prefix
    })
    destination = "C:/ProgramData/winbake/unattend.xml"
  }

  provisioner "powershell" {
    script = "${path.root}/scripts/seal.ps1"
  }

  # The last step, and it survives a dropped connection: sysprep runs in a task, and
  # a second try waits for the first.
  provisioner "powershell" {
    script      = "${path.root}/scripts/generalize.ps1"
    env         = { WINBAKE_PROGRAM = "C:\\Windows\\System32\\Sysprep\\sysprep.exe", WINBAKE_ARGUMENTS = "/generalize /oobe /quit /quiet /unattend:C:\\ProgramData\\winbake\\unattend.xml" }
    max_retries = 3
  }

  post-processor "winbake-manifest" {
    manifest = local.node_manifest
    output   = "${var.image_name}.winbake.json"
  }
}
