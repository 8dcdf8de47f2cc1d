# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.
# What is seldom changed is in variables-rare.pkr.hcl.

variable "image_name" {
  type        = string
  description = "What images of this template are called. The image's own name has image_version behind it."
  default     = "windows-server-2022-openshift"

  validation {
    condition     = can(regex("^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$", var.image_name))
    error_message = "Variable image_name has to be letters, digits, dots and dashes, 48 at most."
  }
}

variable "image_version" {
  type        = string
  description = "What tells this image from the one before, such as 42. Empty is the time of the build in UTC: 20261123-0413."
  default     = ""

  validation {
    condition     = var.image_version == "" || can(regex("^[A-Za-z0-9._-]{1,14}$", var.image_version))
    error_message = "Variable image_version has to be letters, digits, dots and dashes, 14 at most."
  }
}

variable "iso_url" {
  type        = string
  description = "URL or file of Windows' ISO."

  validation {
    condition     = length(var.iso_url) > 0
    error_message = "Variable iso_url can't be empty."
  }
}

variable "iso_checksum" {
  type        = string
  description = "Sum of the ISO, sha256:... or sha512:..."

  validation {
    condition     = can(regex("^(sha256:[0-9a-fA-F]{64}|sha512:[0-9a-fA-F]{128})$", var.iso_checksum))
    error_message = "Variable iso_checksum has to be sha256: or sha512: and its hexadecimal digits."
  }
}

variable "virtio_dir" {
  type        = string
  description = "Folder with the content of virtio-win.iso: vioscsi, NetKVM and virtio-win-guest-tools.exe go onto the CD."

  validation {
    condition     = length(var.virtio_dir) > 0
    error_message = "Variable virtio_dir can't be empty."
  }
}

variable "cpus" {
  type        = number
  description = "Virtual processors."
  default     = 4

  validation {
    condition     = var.cpus >= 2
    error_message = "Variable cpus has to be 2 at least."
  }
}

variable "memory_mb" {
  type        = number
  description = "Memory in MB."
  default     = 16384

  validation {
    condition     = var.memory_mb >= 4096
    error_message = "Variable memory_mb has to be 4096 at least."
  }
}

variable "disk_mb" {
  type        = number
  description = "Size of the disk in MB."
  default     = 131072

  validation {
    condition     = var.disk_mb >= 40960
    error_message = "Variable disk_mb has to be 40960 at least."
  }
}

variable "output_directory" {
  type        = string
  description = "Folder in which the image gets one of its own."
  default     = "output"

  validation {
    condition     = length(var.output_directory) > 0
    error_message = "Variable output_directory can't be empty."
  }
}

variable "admin_password" {
  type        = string
  description = "Password of the local administrator while the image is made. It doesn't outlive the build: sysprep replaces it."
  sensitive   = true

  validation {
    condition     = length(var.admin_password) >= 14 && length(var.admin_password) <= 127
    error_message = "Variable admin_password has to have 14 to 127 characters."
  }

  validation {
    condition     = can(regex("[a-z]", var.admin_password)) && can(regex("[A-Z]", var.admin_password)) && can(regex("[0-9]", var.admin_password))
    error_message = "Variable admin_password has to have lower case, upper case and digits."
  }

  validation {
    condition     = !can(regex("(?i)passw[o0]rd|s3cr3t|secret|administrator|vagrant|packer|changeme|winbake", var.admin_password))
    error_message = "Variable admin_password holds a word that everybody tries first."
  }
}

variable "authorized_keys_file" {
  type        = string
  description = "File with the public SSH keys that may log on as administrator. On OpenShift: the public half of the key in the secret cloud-private-key."
}

variable "updates" {
  type        = string
  description = "windows-update, from whatever server Windows is set to, or none for machines that reach none: then os_build alone says whether Windows is new enough."
  default     = "windows-update"

  validation {
    condition     = contains(["windows-update", "none"], var.updates)
    error_message = "Variable updates has to be one of windows-update, none."
  }
}

variable "windows_image" {
  type        = string
  description = "Edition in install.wim, by name or by index."
  default     = "Windows Server 2022 SERVERSTANDARDCORE"

  validation {
    condition     = can(regex("^[^<>&]+$", var.windows_image))
    error_message = "Variable windows_image can't be empty nor have <, > or &."
  }

  validation {
    condition     = !can(regex("20(12|16|19|22|25)|Windows (7|8|10|11)\\b", var.windows_image)) || can(regex("2022", var.windows_image))
    error_message = "Variable windows_image names another Windows than Windows Server 2022, which the template is for."
  }
}

variable "product_key" {
  type        = string
  description = "Product key. Empty for media that ask for none; the image's check refuses an evaluation, which ends after 180 days."
  sensitive   = true
  default     = ""

  validation {
    condition     = var.product_key == "" || can(regex("^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$", var.product_key))
    error_message = "Variable product_key has to be five groups of five capitals and digits."
  }
}

variable "time_zone" {
  type        = string
  description = "Time zone, by Windows' name."
  default     = "UTC"

  validation {
    condition     = can(regex("^[^<>&/]+$", var.time_zone))
    error_message = "Variable time_zone can't be empty nor have <, >, & or /."
  }
}

variable "payload" {
  type        = string
  description = "Payload image that the node's files come from: REGISTRY/REPOSITORY@sha256:..., or the path of an OCI layout or tarball."
  default     = "quay.io/example/payload@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

  validation {
    condition     = length(var.payload) > 0
    error_message = "Variable payload can't be empty."
  }
}

variable "payload_digest" {
  type        = string
  description = "Digest of the payload image. Another image under the same name ends the build."
  default     = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

  validation {
    condition     = can(regex("^sha256:[0-9a-f]{64}$", var.payload_digest))
    error_message = "Variable payload_digest has to be sha256: and 64 hexadecimal digits."
  }
}

variable "release" {
  type        = string
  description = "OpenShift release that the payload has to be for, such as 4.20. Empty for any."
  default     = "4.20"

  validation {
    condition     = var.release == "" || can(regex("^[4-9]\\.[0-9]{1,2}$", var.release))
    error_message = "Variable release has to be such as 4.20."
  }
}

variable "accept" {
  type        = list(string)
  description = "IDs of findings that don't end the build, of the image's check and the node's."
  default     = []

  validation {
    condition     = length([for a in var.accept : a if !can(regex("^(WIN[0-9]{3}|image[.][a-z0-9.-]+)(=.+)?$", a))]) == 0
    error_message = "Variable accept has to be IDs such as image.windows.evaluation or WIN004, or WIN004=service csi-proxy."
  }
}
