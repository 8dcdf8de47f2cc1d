# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

variable "gallery_version" {
  type        = string
  description = "Version in the gallery. Empty is the time of the build: 2026.11.230413."
  default     = ""

  validation {
    condition     = var.gallery_version == "" || can(regex("^[0-9]+\\.[0-9]+\\.[0-9]+$", var.gallery_version))
    error_message = "Variable gallery_version has to be such as 1.0.0."
  }
}

variable "connect_timeout" {
  type        = string
  description = "How long Windows may take until it can be reached, such as 1h."
  default     = "1h"

  validation {
    condition     = can(regex("^[0-9]+[mh]$", var.connect_timeout))
    error_message = "Variable connect_timeout has to be such as 90m or 4h."
  }
}

variable "build_resource_group_name" {
  type        = string
  description = "Resource group that the machine is made in. Empty makes one for the build, which takes the right to do so."
  default     = ""
}

variable "build_key_vault_name" {
  type        = string
  description = "Key vault for WinRM's certificate, in build_resource_group_name. Empty makes one."
  default     = ""
}

variable "virtual_network_name" {
  type        = string
  description = "Virtual network that is there already. The machine has a private address then. Empty makes one, with a public address."
  default     = ""
}

variable "virtual_network_subnet_name" {
  type        = string
  description = "Subnet in virtual_network_name. Empty takes its only one."
  default     = ""
}

variable "virtual_network_resource_group_name" {
  type        = string
  description = "Resource group of virtual_network_name. Empty looks for it."
  default     = ""
}

variable "private_virtual_network_with_public_ip" {
  type        = bool
  description = "Give the machine in virtual_network_name a public address."
  default     = false
}

variable "allowed_inbound_ip_addresses" {
  type        = list(string)
  description = "Addresses and networks that reach the machine at its public address. Empty is everybody."
  default     = []
}

variable "language" {
  type        = string
  description = "Language of Windows."
  default     = "en-US"

  validation {
    condition     = var.language == "en-US"
    error_message = "OpenShift supports Windows nodes in en-US alone."
  }
}

variable "os_build" {
  type        = string
  description = "Least build and patch level of Windows."
  default     = "20348.681"

  validation {
    condition     = can(regex("^20348\\.[0-9]+$", var.os_build))
    error_message = "Variable os_build has to be such as 20348.681: Windows Server 2022 is build 20348."
  }
}

variable "accept_missing_updates" {
  type        = list(string)
  description = "Updates that may be missing in the end, such as KB5007651, or all. Others end the build."
  default     = []

  validation {
    condition     = length([for u in var.accept_missing_updates : u if !can(regex("^(KB[0-9]+|all)$", u))]) == 0
    error_message = "Variable accept_missing_updates has to be KB numbers such as KB5007651, or all."
  }
}

variable "user_locale" {
  type        = string
  description = "Formats and keyboard of Windows' users."
  default     = "en-US"

  validation {
    condition     = can(regex("^[a-z]{2,3}-[A-Z]{2}$", var.user_locale))
    error_message = "Variable user_locale has to be such as en-GB."
  }
}

variable "proxy" {
  type        = string
  description = "Proxy that Windows reaches its updates through while the image is made: http://HOST:PORT. The image has none: the cluster gives nodes theirs."
  default     = ""

  validation {
    condition     = var.proxy == "" || can(regex("^https?://[^@/\\s]+:[0-9]+$", var.proxy))
    error_message = "Variable proxy has to be such as http://proxy.example.com:3128, without a password."
  }
}

variable "no_proxy" {
  type        = list(string)
  description = "What is reached without proxy: *.example.com, 10.*."
  default     = []
}

variable "wsus_server" {
  type        = string
  description = "The company's update server, such as https://wsus.example.com:8531. It stays in the image. Empty is Microsoft's."
  default     = ""

  validation {
    condition     = var.wsus_server == "" || can(regex("^https?://[^@/\\s]+$", var.wsus_server))
    error_message = "Variable wsus_server has to be such as https://wsus.example.com:8531."
  }
}

variable "ca_certificates_file" {
  type        = string
  description = "PEM file with the company's CA certificates. They stay in the image. Empty for none."
  default     = ""
}

variable "verify_exe" {
  type        = string
  description = "The small verify.exe for nodes. Empty takes it from the payload image, else from beside the plugin."
  default     = ""
}
