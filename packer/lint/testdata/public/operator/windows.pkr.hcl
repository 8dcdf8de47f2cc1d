variable "password" {
  type      = string
  default   = "Winter-2026"
  sensitive = true
}

variable "vcenter_password" {
  type      = string
  sensitive = true
}

source "vsphere-iso" "server" {
  vcenter_server      = "vcenter.example.com"
  username            = "builder"
  password            = var.vcenter_password
  insecure_connection = true
  cluster             = "lab"
  datastore           = "vsan"
  vm_name             = "server-2022"
  vm_version          = 15
  guest_os_type       = "windows9Server64Guest"
  firmware            = "bios"
  iso_paths           = ["[vsan] iso/server-2022.iso", "[vsan] iso/VMware-tools-windows-12.4.0-23259341.iso"]
  floppy_files = [
    "answers/autounattend.xml",
    "answers/unattend.xml",
    "scripts/authorized_keys",
    "scripts/tools.cmd",
    "scripts/tools.ps1",
    "scripts/ssh.ps1",
  ]
  network_adapters {
    network      = "lab"
    network_card = "vmxnet3"
  }
  communicator        = "ssh"
  ssh_username        = "Administrator"
  ssh_password        = var.password
  shutdown_command    = "c:\\windows\\system32\\sysprep\\sysprep.exe /generalize /oobe /shutdown /unattend:a:\\unattend.xml"
  convert_to_template = true
}

build {
  sources = ["source.vsphere-iso.server"]

  provisioner "file" {
    source      = "scripts/rename.ps1"
    destination = "C:/"
  }

  provisioner "powershell" {
    scripts = ["scripts/ports.ps1", "scripts/updates.ps1"]
  }

  provisioner "windows-restart" {}
}
