source "qemu" "w" {
  communicator = "ssh
}
build {
