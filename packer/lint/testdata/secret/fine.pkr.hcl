variable "admin_password" {
  sensitive = true
}
variable "vcenter_password" {
  default = env("VCENTER_PASSWORD")
}
variable "empty_password" {
  default = ""
}
variable "product_key" {
  default = "VDYBN-27WPP-V4HQT-9VMD4-VMK7H"
}
variable "ssh_private_key" {
  default = "~/.ssh/id_ed25519"
}
source "vsphere-iso" "w" {
  ssh_password = var.admin_password
  password     = var.vcenter_password
}
source "azure-arm" "w" {
  client_secret = "{{ env `SECRET` }}"
}
