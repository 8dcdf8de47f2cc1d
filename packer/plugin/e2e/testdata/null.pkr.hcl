packer {
  required_plugins {
    winbake = {
      source  = "github.com/winbake/winbake"
      version = ">= 0.1.0, < 1.0.0"
    }
  }
}

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
data "winbake-payload" "node" {
  payload = var.payload
  digest  = var.digest
  release = "4.20"
}

source "null" "windows" {
  communicator             = "ssh"
  ssh_host                 = "127.0.0.1"
  ssh_port                 = var.port
  ssh_username             = "Administrator"
  ssh_password             = var.password
  ssh_timeout              = "1m"
  ssh_file_transfer_method = "sftp"
}

build {
  sources = ["source.null.windows"]

  provisioner "winbake-node" {
    payload = data.winbake-payload.node.reference
    digest  = var.digest
    accept  = var.accept
  }

  provisioner "shell-local" {
    env    = { PAYLOAD = jsonencode(data.winbake-payload.node) }
    inline = ["printenv PAYLOAD > payload.json"]
  }

  provisioner "winbake-node" {
    payload    = data.winbake-payload.node.reference
    digest     = var.digest
    accept     = var.accept
    check_only = true
  }
}
