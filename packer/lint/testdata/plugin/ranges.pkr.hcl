packer {
  required_plugins {
    vsphere = {
      source  = "github.com/hashicorp/vsphere"
      version = ">= 1.4.2"
    }
    qemu = {
      version = "1.0.9"
    }
  }
}
source "vsphere-iso" "w" {}
source "qemu" "w" {}
source "azure-arm" "w" {}
