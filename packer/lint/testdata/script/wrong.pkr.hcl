source "vsphere-iso" "w" {
  cd_files = ["present.ps1", "setup.cmd", "later/drivers.xml", "virtio.iso"]
  cd_content = {
    "autounattend.xml" = templatefile("${path.root}/answers/none.xml.pkrtpl", {})
  }
}
build {
  sources = ["source.vsphere-iso.w"]
  provisioner "powershell" {
    scripts = ["present.ps1", "${path.root}/absent.ps1", "other/absent.ps1"]
  }
  provisioner "file" {
    source      = "tools.zip"
    destination = "C:/tools.zip"
  }
}
