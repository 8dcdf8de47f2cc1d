# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

variable "vtpm" {
  type        = bool
  description = "Give the machine a TPM, as Google does by default."
  default     = true
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

variable "network_project_id" {
  type        = string
  description = "Project of network and subnetwork, where it is a shared VPC's. Empty is project_id."
  default     = ""
}

variable "network_tags" {
  type        = list(string)
  description = "Network tags, which firewall rules go by."
  default     = []
}

variable "internal_ip" {
  type        = bool
  description = "Reach the machine at its internal address, and give it no external one."
  default     = false
}

variable "use_iap" {
  type        = bool
  description = "Reach the machine through Identity-Aware Proxy, which needs gcloud on this host. It has no external address then."
  default     = false
}

variable "service_account_email" {
  type        = string
  description = "Service account of the machine. Empty is the project's default."
  default     = ""
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
