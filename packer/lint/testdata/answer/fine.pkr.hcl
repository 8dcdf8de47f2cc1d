source "vsphere-iso" "w" {
  guest_os_type = "windows2019srvNext_64Guest"
  iso_paths     = ["[ds] windows_server_2022.iso", "[ds] VMware-tools-windows-13.0.0.iso"]
  cd_files      = ["standard-key.xml"]
}
source "qemu" "w" {
  disk_interface = "ide"
  cd_files       = ["efi.xml"]
}
build {
  sources = ["source.vsphere-iso.w"]
  provisioner "file" {
    content     = templatefile("${path.root}/sealed.xml.pkrtpl", { password = "given" })
    destination = "C:/unattend.xml"
  }
  provisioner "file" {
    source      = "placeholders.xml"
    destination = "C:/other.xml"
  }
}
