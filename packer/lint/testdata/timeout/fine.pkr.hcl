variable "timeout" {}
source "qemu" "w" {
  shutdown_command = "shutdown /s /t 0 /f"
}
source "vsphere-iso" "w" {
  shutdown_command = "sysprep.exe /generalize /oobe /shutdown"
  shutdown_timeout = "1h"
}
source "vsphere-iso" "given" {
  shutdown_command = "shutdown /s /t 0 /f"
  shutdown_timeout = var.timeout
}
build {
  sources = ["source.vsphere-iso.w"]
  provisioner "windows-restart" {
    restart_timeout = "30m"
  }
}
