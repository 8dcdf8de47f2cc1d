variable "admin_password" {
  default   = "Winter-2026"
  sensitive = true
}
variable "name_of_none" {
  default = "Summer-2026"
}
locals {
  logon = "Spring-2026"
}
data "amazon-ami" "w" {
  secret_key = "abcdefgh"
}
source "vsphere-iso" "w" {
  ssh_password = "vagrant"
  password     = var.admin_password
}
source "vsphere-iso" "by_variable" {
  password = "${var.name_of_none}"
}
source "vsphere-iso" "by_local" {
  password = local.logon
}
build {
  sources = ["source.vsphere-iso.w"]
  provisioner "powershell" {
    env    = { ADMIN_PASSWORD = "Autumn-2026", NAME = "a" }
    inline = ["exit 0"]
  }
  post-processor "artifice" {
    api_key = "abcdefgh"
  }
}
