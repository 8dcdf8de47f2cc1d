source "vsphere-iso" "order" {
  cd_files = ["order.xml"]
}
source "vsphere-iso" "extend" {
  cd_files = ["extend.xml"]
}
source "vsphere-iso" "target" {
  cd_files = ["${path.root}/target.xml"]
}
source "vsphere-iso" "licence" {
  floppy_files = ["licence.xml"]
}
source "vsphere-iso" "broken" {
  cd_content = { "autounattend.xml" = file("broken.xml") }
}
source "vsphere-iso" "none" {
  cd_files = ["drivers"]
}
