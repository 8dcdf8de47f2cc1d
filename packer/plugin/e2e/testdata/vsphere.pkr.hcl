# The least that has all of the parts: a machine, our steps, something that
# goes wrong between them. The templates of bake template are in the other tests.
packer {
  required_plugins {
    winbake = {
      source  = "github.com/winbake/winbake"
      version = ">= 0.1.0, < 1.0.0"
    }
    vsphere = {
      source  = "github.com/hashicorp/vsphere"
      version = ">= 1.4.2, < 2.0.0"
    }
  }
}

variable "vcenter" { type = string }
variable "payload" { type = string }
variable "digest" { type = string }
variable "port" { type = number }
variable "password" {
  type      = string
  sensitive = true
}
variable "accept" {
  type    = list(string)
  default = []
}
variable "between" {
  type    = string
  default = "true"
}

source "vsphere-clone" "windows" {
  vcenter_server           = var.vcenter
  username                 = "user"
  password                 = "pass"
  insecure_connection      = true
  datacenter               = "DC0"
  host                     = "DC0_H0"
  datastore                = "LocalDS_0"
  template                 = "DC0_H0_VM0"
  vm_name                  = "golden"
  communicator             = "ssh"
  ssh_port                 = var.port
  ssh_username             = "Administrator"
  ssh_password             = var.password
  ssh_timeout              = "1m"
  ssh_file_transfer_method = "sftp"
  ip_wait_timeout          = "1m"
  ip_settle_timeout        = "1s"
  shutdown_command         = "shutdown.exe /s /t 10"
  shutdown_timeout         = "1m"
  convert_to_template      = true
}

build {
  sources = ["source.vsphere-clone.windows"]

  provisioner "winbake-node" {
    payload = var.payload
    digest  = var.digest
    accept  = var.accept
  }

  provisioner "shell-local" {
    inline = [var.between]
  }

  provisioner "winbake-node" {
    payload    = var.payload
    digest     = var.digest
    accept     = var.accept
    check_only = true
  }
}
