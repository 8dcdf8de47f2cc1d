# What the integrations page of Packer shows. The rest of this folder is
# rendered from ../docs: go test . -run Docs -update
integration {
  name        = "Winbake"
  description = "Put the node files of a payload image onto a Windows Server guest, and check it."
  identifier  = "packer/winbake/winbake"
  flags       = []
  license {
    type = "Apache-2.0"
    url  = "https://github.com/winbake/winbake/blob/main/LICENSE"
  }
  component {
    type = "data-source"
    name = "Payload"
    slug = "payload"
  }
  component {
    type = "provisioner"
    name = "Node"
    slug = "node"
  }
}
