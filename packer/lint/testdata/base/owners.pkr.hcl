variable "account" {}
data "amazon-ami" "anybody" {
  filters     = { name = "Windows_Server-2022-English-Core-Base-*" }
  most_recent = true
}
data "amazon-ami" "star" {
  filters = { name = "Windows_Server-2022-English-Core-Base-*" }
  owners  = ["*"]
}
data "amazon-ami" "given" {
  owners = [var.account]
}
source "amazon-ebs" "filter" {
  source_ami_filter {
    filters     = { name = "Windows_Server-2022-English-Core-Base-*" }
    most_recent = true
  }
}
source "amazon-ebs" "owned" {
  source_ami_filter {
    filters = { name = "Windows_Server-2022-English-Core-Base-*" }
    owners  = ["amazon"]
  }
}
