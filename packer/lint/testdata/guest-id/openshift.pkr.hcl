# profile: openshift
source "vsphere-iso" "w2019" {
  guest_os_type = "windows2019srv_64Guest"
}
