# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

variable "encrypt_boot" {
  type        = bool
  description = "Encrypt the image's snapshot."
  default     = true
}

variable "skip_credential_validation" {
  type        = bool
  description = "Don't ask AWS whether credentials are good: for packer validate without a network."
  default     = false
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

variable "profile" {
  type        = string
  description = "Profile of AWS's configuration files. Empty is the environment's."
  default     = ""
}

variable "security_group_ids" {
  type        = list(string)
  description = "Security groups that let SSH in. Empty makes one for the build."
  default     = []
}

variable "temporary_security_group_source_cidrs" {
  type        = list(string)
  description = "Networks that the build's own security group lets in. Empty is everybody."
  default     = []
}

variable "private_address" {
  type        = bool
  description = "Reach the instance at its private address, and give it no public one."
  default     = false
}

variable "iam_instance_profile" {
  type        = string
  description = "Instance profile of the instance. Empty for none."
  default     = ""
}

variable "kms_key_id" {
  type        = string
  description = "KMS key that the image's snapshot is encrypted with. Empty is the account's own."
  default     = ""
}

variable "ami_users" {
  type        = list(string)
  description = "Accounts that may start instances of the image."
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
