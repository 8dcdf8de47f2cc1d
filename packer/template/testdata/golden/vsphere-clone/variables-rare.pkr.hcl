# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

variable "vcenter_insecure" {
  type        = bool
  description = "Take any certificate for vCenter's. Anyone who is between Packer and vCenter then reads the passwords."
  default     = false
}

variable "export_directory" {
  type        = string
  description = "Folder that the image is exported to as well. It stays a virtual machine in the inventory then. Empty exports nothing."
  default     = ""
}

variable "export_format" {
  type        = string
  description = "ova, which needs VMware's ovftool on this host, or ovf."
  default     = "ova"

  validation {
    condition     = contains(["ova", "ovf"], var.export_format)
    error_message = "Variable export_format has to be one of ova, ovf."
  }
}

variable "resource_pool" {
  type        = string
  description = "Resource pool. Empty is the cluster's or host's own."
  default     = ""
}

variable "set_host_for_datastore_uploads" {
  type        = bool
  description = "Upload to the datastore through host, for a vCenter that may not do so itself."
  default     = false
}

variable "ip_wait_address" {
  type        = string
  description = "Network that the machine's address is in, such as 10.0.8.0/22. Addresses of other networks are passed over."
  default     = "0.0.0.0/0"

  validation {
    condition     = var.ip_wait_address == "" || can(regex("^[0-9a-fA-F.:]+/[0-9]{1,3}$", var.ip_wait_address))
    error_message = "Variable ip_wait_address has to be such as 10.0.8.0/22."
  }
}

variable "ip_settle_timeout" {
  type        = string
  description = "How long an address has to stay the same: until DHCP answers, Windows gives itself one."
  default     = "1m"

  validation {
    condition     = var.ip_settle_timeout == "" || can(regex("^[0-9]+[sm]$", var.ip_settle_timeout))
    error_message = "Variable ip_settle_timeout has to be such as 30s or 2m."
  }
}

variable "snapshot" {
  type        = string
  description = "Name of a snapshot that linked clones are made of, as a MachineSet's snapshot names it. Empty makes none."
  default     = ""
}

variable "communicator" {
  type        = string
  description = "How Packer reaches the machine: ssh, or winrm where SSH can't be."
  default     = "ssh"

  validation {
    condition     = contains(["ssh", "winrm"], var.communicator)
    error_message = "Variable communicator has to be one of ssh, winrm."
  }
}

variable "ssh_port" {
  type        = number
  description = "Port of the machine's SSH, where something forwards it."
  default     = 22

  validation {
    condition     = var.ssh_port >= 1
    error_message = "Variable ssh_port has to be 1 at least."
  }
}

variable "connect_timeout" {
  type        = string
  description = "How long Windows may take until it can be reached, such as 4h."
  default     = "4h"

  validation {
    condition     = can(regex("^[0-9]+[mh]$", var.connect_timeout))
    error_message = "Variable connect_timeout has to be such as 90m or 4h."
  }
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

variable "host_name_prefix" {
  type        = string
  description = "How a clone is called that nobody names: this and five random characters."
  default     = "winnode-"

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{0,9}$", var.host_name_prefix))
    error_message = "Variable host_name_prefix has to be lower case letters, digits and dashes, 10 at most: a host name has no more than 15."
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
