source "vsphere-iso" "w2022" {
  guest_os_type = "windows2019srvNext_64Guest"
  vm_version    = 18
}
source "vsphere-iso" "w2025" {
  guest_os_type = "windows2022srvNext_64Guest"
}
source "vsphere-iso" "w2019" {
  guest_os_type = "windows2019srv_64Guest"
}
source "vsphere-clone" "w" {}
source "vmware-iso" "w" {
  guest_os_type = "windows2019srvnext-64"
}
