variable "script" {}
variable "given" {
  default = ""
}
locals {
  wrong = var.given == "" ? true : file("given: it has to be there")
}
source "vsphere-iso" "w" {
  cd_files = ["present.ps1", "*.ps1"]
}
build {
  sources = ["source.vsphere-iso.w"]
  provisioner "powershell" {
    script = "${path.root}/present.ps1"
  }
  provisioner "powershell" {
    script = var.script
  }
  provisioner "powershell" {
    inline = split("\n", file("${path.root}/present.ps1"))
  }
  provisioner "file" {
    source      = "C:/var/log/setup.log"
    destination = "setup.log"
    direction   = "download"
  }
  provisioner "file" {
    source      = "made.zip"
    destination = "C:/made.zip"
    generated   = true
  }
}
