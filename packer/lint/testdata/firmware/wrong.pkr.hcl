variable "given" {}
source "vsphere-iso" "tpm" {
  firmware = "bios"
  vTPM     = true
}
source "vsphere-iso" "bios_layout" {
  firmware = "efi-secure"
  cd_files = ["bios.xml"]
}
source "vsphere-iso" "efi_layout" {
  firmware     = "bios"
  floppy_files = ["efi.xml"]
}
source "vsphere-iso" "default" {}
source "vsphere-iso" "not_secure" {
  firmware = "efi"
}
source "vsphere-iso" "given" {
  firmware = var.given
}
source "qemu" "efi_layout" {
  cd_files = ["efi.xml"]
}
