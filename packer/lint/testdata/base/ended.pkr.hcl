source "azure-arm" "w" {
  image_publisher = "MicrosoftWindowsServer"
  image_offer     = "WindowsServer"
  image_sku       = "2012-r2-datacenter-gensecond"
}
source "googlecompute" "w" {
  source_image_family = "windows-2012-r2"
}
source "qemu" "old" {
  iso_url = "https://example.com/en_windows_server_2008_r2.iso"
}
source "qemu" "new" {
  iso_url = "https://example.com/20348.169.210806-2348.fe_release_svc_refresh_SERVER_EVAL_x64FRE_en-us.iso"
}
