variable "iso_url" {}
variable "iso_checksum" {}
source "qemu" "sum" {
  iso_url      = "https://example.com/windows.iso"
  iso_checksum = "sha256:3e4fa6d8507b554856fc9ca6079cc402df11a8b79344871669f0251535255325"
}
source "qemu" "given" {
  iso_url      = var.iso_url
  iso_checksum = var.iso_checksum
}
source "vsphere-iso" "there" {
  iso_paths = ["[ds] windows.iso"]
}
