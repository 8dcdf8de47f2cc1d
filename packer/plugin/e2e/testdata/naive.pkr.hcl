# What one does without the plugin: each file by Packer's file provisioner, then
# the service by sc.exe. Nothing is compared or checked.
variable "files" { type = string }
variable "port" { type = number }
variable "password" {
  type      = string
  sensitive = true
}

source "null" "windows" {
  communicator             = "ssh"
  ssh_host                 = "127.0.0.1"
  ssh_port                 = var.port
  ssh_username             = "Administrator"
  ssh_password             = var.password
  ssh_timeout              = "1m"
  ssh_file_transfer_method = "sftp"
}

build {
  sources = ["source.null.windows"]

  provisioner "windows-shell" {
    inline = ["mkdir C:\\k\\cni", "mkdir C:\\k\\containerd", "mkdir C:\\var\\log\\csi-proxy"]
  }
  provisioner "file" {
    source      = "${var.files}/csi-proxy/csi-proxy.exe"
    destination = "C:/k/csi-proxy.exe"
  }
  provisioner "file" {
    source      = "${var.files}/kube-node/kube-log-runner.exe"
    destination = "C:/k/kube-log-runner.exe"
  }
  provisioner "file" {
    source      = "${var.files}/cni/host-local.exe"
    destination = "C:/k/cni/host-local.exe"
  }
  provisioner "file" {
    source      = "${var.files}/cni/win-bridge.exe"
    destination = "C:/k/cni/win-bridge.exe"
  }
  provisioner "file" {
    source      = "${var.files}/cni/win-overlay.exe"
    destination = "C:/k/cni/win-overlay.exe"
  }
  provisioner "file" {
    source      = "${var.files}/containerd/containerd_conf.toml"
    destination = "C:/k/containerd/containerd_conf.toml"
  }
  provisioner "windows-shell" {
    inline = [
      "sc.exe create csi-proxy start= auto binPath= \"C:\\k\\csi-proxy.exe -log_file=C:\\var\\log\\csi-proxy\\csi-proxy.log -logtostderr=false -windows-service --v=2\"",
      "sc.exe start csi-proxy",
    ]
  }
}
