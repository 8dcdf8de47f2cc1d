source "vsphere-iso" "no_card" {
  communicator             = "ssh"
  ssh_file_transfer_method = "sftp"
}
source "vsphere-iso" "e1000" {
  network_adapters {
    network = "lab"
  }
  insecure_connection      = true
  ssh_file_transfer_method = "sftp"
}
source "qemu" "virtio" {
  disk_interface           = "ide"
  cd_files                 = ["autounattend.xml"]
  ssh_file_transfer_method = "sftp"
}
source "qemu" "both" {
  cd_files                 = ["autounattend.xml"]
  ssh_file_transfer_method = "sftp"
}
source "azure-arm" "http" {
  communicator = "winrm"
}
source "amazon-ebs" "scp" {
  communicator = "ssh"
}
source "googlecompute" "none" {
  communicator = "none"
}
build {
  sources = ["source.googlecompute.none"]
  provisioner "powershell" {
    inline = ["exit 0"]
  }
}
