source "azure-arm" "w" {
  image_offer = "WindowsServer"
  image_sku   = "2022-datacenter-core-g2"
}
source "azure-arm" "older" {
  image_offer = "WindowsServer"
  image_sku   = "2019-datacenter-core-g2"
}
source "vsphere-iso" "w" {
  guest_os_type = "windows9Server64Guest"
  iso_paths     = ["[ds] windows_server_2016.iso"]
}
