# profile: openshift
source "azure-arm" "w" {
  image_offer = "WindowsServer"
  image_sku   = "2022-datacenter-core-g2"
}
source "azure-arm" "older" {
  image_offer = "WindowsServer"
  image_sku   = "2019-datacenter-core-g2"
}
