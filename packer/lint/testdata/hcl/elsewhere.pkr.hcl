build {
  sources = ["source.qemu.w"]
}
