source "qemu" "cut" {}
source "vsphere-iso" "short" {
  shutdown_command = "shutdown /s /t 0 /f"
  shutdown_timeout = "1m"
}
source "vsphere-iso" "sysprep" {
  shutdown_command = "c:\\windows\\system32\\sysprep\\sysprep.exe /generalize /oobe /shutdown"
}
build {
  sources = ["source.vsphere-iso.short"]
  provisioner "windows-restart" {}
  provisioner "windows-restart" {
    restart_timeout = "1m"
  }
}
