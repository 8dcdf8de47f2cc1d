source "vsphere-iso" "order" {
  boot_order   = "cdrom,disk"
  remove_cdrom = true
}
source "vsphere-iso" "keeps" {
  iso_paths = ["[ds] windows.iso"]
}
source "vsphere-iso" "says_so" {
  cd_files     = ["autounattend.xml"]
  remove_cdrom = false
}
