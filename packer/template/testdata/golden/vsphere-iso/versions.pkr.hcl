# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

packer {
  required_version = ">= 1.12.0, < 2.0.0" # others: https://developer.hashicorp.com/packer/install

  required_plugins {
    vsphere = {
      source  = "github.com/hashicorp/vsphere"
      version = ">= 1.4.2, < 2.0.0"
    }
    winbake = {
      source  = "github.com/winbake/winbake"
      version = ">= 0.1.0, < 1.0.0"
    }
  }
}
