source "null" "w" {
}
build {
  sources = ["source.null.w"]
}
