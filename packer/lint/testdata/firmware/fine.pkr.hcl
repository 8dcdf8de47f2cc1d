source "vsphere-iso" "w" {
  firmware = "efi-secure"
  vTPM     = true
  cd_files = ["efi.xml"]
}
source "qemu" "w" {
  efi_boot = true
  cd_files = ["efi.xml"]
}
source "qemu" "arguments" {
  qemuargs = [["-bios", "OVMF.fd"]]
  cd_files = ["efi.xml"]
}
source "azure-arm" "w" {}
