# Made by bake template. Values belong into a var-file: an edit here is in the way
# of the next run.

packer {
  required_version = ">= 1.12.0, < 2.0.0" # others: https://developer.hashicorp.com/packer/install

  required_plugins {
    googlecompute = {
      source  = "github.com/hashicorp/googlecompute"
      version = ">= 1.1.4, < 2.0.0"
    }
    winbake = {
      source  = "github.com/winbake/winbake"
      version = ">= 0.1.0, < 1.0.0"
    }
  }
}
