variable "networks" {
  default = ["lab"]
}
variable "ssl" {}
source "vsphere-iso" "w" {
  dynamic "network_adapters" {
    for_each = var.networks
    content {
      network      = network_adapters.value
      network_card = "vmxnet3"
    }
  }
  communicator             = "ssh"
  ssh_file_transfer_method = "sftp"
}
source "qemu" "w" {
  disk_interface = "ide"
  net_device     = "e1000"
  cd_files       = ["autounattend.xml"]
  communicator   = "winrm"
  winrm_use_ssl  = true
}
source "azure-arm" "ntlm" {
  communicator   = "winrm"
  winrm_use_ntlm = true
}
source "azure-arm" "given" {
  communicator  = "winrm"
  winrm_use_ssl = var.ssl
}
source "null" "w" {
  communicator = "none"
}
build {
  sources = ["source.null.w"]
  provisioner "shell-local" {
    inline = ["true"]
  }
}
