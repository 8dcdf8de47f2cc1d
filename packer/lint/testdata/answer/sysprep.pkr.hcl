source "azure-arm" "w" {}
build {
  sources = ["source.azure-arm.w"]
  provisioner "file" {
    source      = "stays.xml"
    destination = "C:/unattend.xml"
  }
}
