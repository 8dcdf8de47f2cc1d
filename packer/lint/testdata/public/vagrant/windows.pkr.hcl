packer {
  required_plugins {
    vsphere = {
      source  = "github.com/vmware/vsphere"
      version = "2.1.1"
    }
    windows-update = {
      source  = "github.com/rgl/windows-update"
      version = "0.17.0"
    }
  }
}

variable "vsphere_password" {
  type      = string
  default   = env("GOVC_PASSWORD")
  sensitive = true
}

source "vsphere-iso" "box" {
  vcenter_server           = env("GOVC_HOST")
  password                 = var.vsphere_password
  insecure_connection      = true
  firmware                 = "efi"
  guest_os_type            = "windows2019srvNext_64Guest"
  cd_label                 = "PROVISION"
  cd_files                 = ["first.ps1", "winrm.ps1", "vmtools.ps1", "openssh.ps1", "tmp/box-vsphere/autounattend.xml"]
  iso_paths                = ["[ds] iso/windows.iso", "[ds] iso/VMware-tools-windows-13.0.0.iso"]
  boot_command             = ["<up><wait><up><wait>"]
  shutdown_command         = "shutdown /s /t 0 /f"
  network_adapters {
    network      = "lab"
    network_card = "vmxnet3"
  }
  communicator             = "ssh"
  ssh_username             = "vagrant"
  ssh_password             = "vagrant"
  ssh_file_transfer_method = "sftp"
}

build {
  sources = ["source.vsphere-iso.box"]

  provisioner "powershell" {
    use_pwsh = true
    script   = "provision.ps1"
  }

  provisioner "windows-update" {
    filters = ["exclude:$_.Title -like '*VMware*'", "include:$true"]
  }

  provisioner "powershell" {
    use_pwsh = true
    script   = "cloudbase-init.ps1"
  }
}
