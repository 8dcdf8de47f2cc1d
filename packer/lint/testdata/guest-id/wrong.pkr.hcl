variable "given" {}
variable "empty" {
  default = null
}
source "vsphere-iso" "none" {}
source "vsphere-iso" "unknown_id" {
  guest_os_type = "windows2022srv_64Guest"
}
source "vsphere-iso" "old" {
  guest_os_type = "windows9Server64Guest"
}
source "vsphere-iso" "client" {
  guest_os_type = "windows11_64Guest"
}
source "vsphere-iso" "linux" {
  guest_os_type = "ubuntu64Guest"
}
source "vsphere-iso" "hardware" {
  guest_os_type = "windows2019srvNext_64Guest"
  vm_version    = 15
}
source "vsphere-iso" "newer" {
  guest_os_type = "windows2022srvNext_64Guest"
  vm_version    = 19
}
source "vsphere-iso" "given" {
  guest_os_type = var.given
}
source "vsphere-iso" "null" {
  guest_os_type = var.empty
}
build {
  sources = ["source.vsphere-iso.hardware"]
  source "source.vsphere-iso.hardware" {
    name       = "of_the_build"
    vm_version = 14
  }
}
