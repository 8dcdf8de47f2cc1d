variable "autounattend" {
  type    = string
  default = "./answers/Autounattend.xml"
}

variable "iso_url" {
  type    = string
  default = "https://example.com/SERVER_EVAL_x64FRE_en-us.iso"
}

source "qemu" "server" {
  iso_url          = var.iso_url
  iso_checksum     = "sha256:3e4fa6d8507b554856fc9ca6079cc402df11a8b79344871669f0251535255325"
  floppy_files     = [var.autounattend, "./scripts/winrm.ps1", "./scripts/unattend.xml", "./scripts/sysprep.bat", "./scripts/updates.ps1"]
  communicator     = "winrm"
  winrm_username   = "vagrant"
  winrm_password   = "vagrant"
  shutdown_command = "a:/sysprep.bat"
}

source "virtualbox-iso" "server" {
  guest_os_type    = "Windows2016_64"
  iso_url          = var.iso_url
  iso_checksum     = "md5:290b3e4fa6d8507b554856fc9ca6079c"
  floppy_files     = [var.autounattend, "./scripts/winrm.ps1", "./scripts/unattend.xml", "./scripts/sysprep.bat", "./scripts/updates.ps1"]
  communicator     = "winrm"
  winrm_username   = "vagrant"
  winrm_password   = "vagrant"
  shutdown_command = "a:/sysprep.bat"
}

build {
  sources = ["source.qemu.server", "source.virtualbox-iso.server"]

  provisioner "windows-shell" {
    execute_command = "{{ .Vars }} cmd /c \"{{ .Path }}\""
    scripts         = ["./scripts/no-updates.bat"]
  }

  provisioner "powershell" {
    scripts = ["./scripts/guest-tools.ps1"]
  }

  provisioner "windows-restart" {}
}
