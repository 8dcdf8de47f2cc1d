# The plugin's step alone, once.
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

variable "verify_binary" {
  type    = string
  default = ""
}

variable "max_retries" {
  type    = number
  default = 0
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
    payload       = var.payload
    digest        = var.digest
    accept        = var.accept
    verify_binary = var.verify_binary
    max_retries   = var.max_retries
  }
}
