# Made by bake template. Values belong into a var-file; the next run keeps an edit
# here with --adopt alone.

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
