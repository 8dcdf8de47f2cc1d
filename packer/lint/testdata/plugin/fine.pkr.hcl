packer {
  required_plugins {
    vsphere = {
      source  = "github.com/hashicorp/vsphere"
      version = ">= 1.4.2, < 2.0.0"
    }
    azure = {
      source  = "github.com/hashicorp/azure"
      version = "~> 1"
    }
    qemu = {
      source  = "github.com/hashicorp/qemu"
      version = "1.0.9"
    }
  }
}
source "vsphere-iso" "w" {}
source "vsphere-clone" "w" {}
source "azure-arm" "w" {}
source "qemu" "w" {}
source "null" "w" {}
