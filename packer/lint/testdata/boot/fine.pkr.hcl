variable "remove" {}
source "vsphere-iso" "w" {
  boot_order   = "disk,cdrom"
  iso_paths    = ["[ds] windows.iso"]
  remove_cdrom = true
}
source "vsphere-clone" "w" {}
source "qemu" "w" {
  iso_url = "https://example.com/windows.iso"
}
