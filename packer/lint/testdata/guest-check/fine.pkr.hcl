source "vsphere-iso" "plugin" {}
source "vsphere-iso" "inline" {}
source "vsphere-iso" "script" {
  shutdown_command = "sysprep.exe /generalize /oobe /shutdown"
}
source "null" "w" {}
build {
  sources = ["source.vsphere-iso.plugin"]
  provisioner "winbake-node" {
    check   = "image"
    profile = "openshift"
  }
  provisioner "powershell" {
    env    = { ARGUMENTS = "/generalize /oobe /quit" }
    script = "generalize.ps1"
  }
}
build {
  sources = ["source.vsphere-iso.inline"]
  provisioner "powershell" {
    inline = ["& C:\\Windows\\Temp\\verify.exe node check --image --profile openshift", "exit $LASTEXITCODE"]
  }
}
build {
  sources = ["source.vsphere-iso.script"]
  provisioner "powershell" {
    script = "check.ps1"
  }
}
build {
  sources = ["source.null.w"]
}
source "vsphere-iso" "dynamic" {}
build {
  sources = ["source.vsphere-iso.dynamic"]
  dynamic "provisioner" {
    for_each = [1]
    labels   = ["winbake-node"]
    content {
      check = "image"
    }
  }
}
