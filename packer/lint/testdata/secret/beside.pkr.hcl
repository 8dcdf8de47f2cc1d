variable "of_a_var_file_password" {
  sensitive = true
}
source "null" "w" {}
