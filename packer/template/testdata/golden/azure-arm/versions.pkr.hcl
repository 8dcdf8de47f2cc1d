# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

packer {
  required_version = ">= 1.12.0, < 2.0.0" # others: https://developer.hashicorp.com/packer/install

  required_plugins {
    azure = {
      source  = "github.com/hashicorp/azure"
      version = ">= 1.4.5, < 2.0.0"
    }
    winbake = {
      source  = "github.com/winbake/winbake"
      version = ">= 0.1.0, < 1.0.0"
    }
  }
}
