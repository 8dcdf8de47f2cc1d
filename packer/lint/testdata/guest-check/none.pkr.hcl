source "vsphere-iso" "w" {}
source "azure-arm" "w" {}
build {
  sources = ["source.vsphere-iso.w", "source.azure-arm.w"]
  provisioner "winbake-node" {
    payload = "registry.example.com/node@sha256:3e4fa6d8507b554856fc9ca6079cc402df11a8b79344871669f0251535255325"
  }
  provisioner "powershell" {
    inline = ["# verify.exe node check --image", "sysprep.exe /generalize /oobe /quit"]
  }
  provisioner "winbake-node" {
    only  = ["vsphere-iso.w"]
    check = "image"
  }
}
