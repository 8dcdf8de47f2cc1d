source "qemu" "none" {
  iso_url      = "https://example.com/windows.iso"
  iso_checksum = "none"
}
source "qemu" "absent" {
  iso_urls = ["https://example.com/windows.iso"]
}
source "qemu" "md5" {
  iso_url      = "https://example.com/windows.iso"
  iso_checksum = "md5:290b3e4fa6d8507b554856fc9ca6079c"
}
