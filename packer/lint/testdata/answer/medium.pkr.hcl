variable "windows_image" {
  default = "Windows Server 2025 SERVERDATACENTERCORE"
}
source "vsphere-iso" "guest" {
  guest_os_type = "windows2022srvNext_64Guest"
  cd_files      = ["edition.xml"]
}
source "vsphere-iso" "guest_by_variable" {
  guest_os_type = "windows2019srvNext_64Guest"
  cd_content    = { "autounattend.xml" = templatefile("efi.xml", { image_value = var.windows_image }) }
}
source "vsphere-iso" "iso" {
  iso_paths = ["[ds] windows_server_2019.iso"]
  cd_files  = ["edition.xml"]
}
source "vsphere-iso" "key" {
  cd_files = ["datacenter-key.xml"]
}
source "vsphere-iso" "evaluation" {
  iso_paths = ["[ds] SERVER_EVAL_x64FRE_en-us.iso"]
  cd_files  = ["standard-key.xml"]
}
source "vsphere-iso" "misspelt" {
  cd_files = ["misspelt.xml"]
}
source "qemu" "disk" {
  cd_files = ["efi.xml"]
}
