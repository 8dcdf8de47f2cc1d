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

variable "subscription_id" {
  type        = string
  description = "Subscription in which the image is made."

  validation {
    condition     = can(regex("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", var.subscription_id))
    error_message = "Variable subscription_id has to be such as 00000000-0000-0000-0000-000000000000."
  }
}

variable "client_secret" {
  type        = string
  description = "Secret of client_id. Empty where use_azure_cli_auth is true."
  sensitive   = true
  default     = ""
}

variable "use_azure_cli_auth" {
  type        = bool
  description = "Take the login of the az command."
  default     = false
}

variable "location" {
  type        = string
  description = "Region in which the image is made."

  validation {
    condition     = length(var.location) > 0
    error_message = "Variable location can't be empty."
  }
}

variable "resource_group" {
  type        = string
  description = "Resource group of the image."

  validation {
    condition     = length(var.resource_group) > 0
    error_message = "Variable resource_group can't be empty."
  }
}

variable "gallery" {
  type        = string
  description = "Shared image gallery to publish to as well. Empty for none."
  default     = ""
}

variable "vm_size" {
  type        = string
  description = "Size of the machine that the image is made on."
  default     = "Standard_D4s_v3"

  validation {
    condition     = length(var.vm_size) > 0
    error_message = "Variable vm_size can't be empty."
  }
}

variable "image_sku" {
  type        = string
  description = "SKU of Microsoft's image, of the second generation."
  default     = "2022-datacenter-core-g2"

  validation {
    condition     = length(var.image_sku) > 0
    error_message = "Variable image_sku can't be empty."
  }

  validation {
    condition     = !can(regex("20(12|16|19|22|25)|Windows (7|8|10|11)\\b", var.image_sku)) || can(regex("2022", var.image_sku))
    error_message = "Variable image_sku names another Windows than Windows Server 2022, which the template is for."
  }
}

variable "disk_gb" {
  type        = number
  description = "Size of the disk in GB."
  default     = 128

  validation {
    condition     = var.disk_gb >= 127
    error_message = "Variable disk_gb has to be 127 at least."
  }
}

variable "tenant_id" {
  type        = string
  description = "Tenant. Empty is the subscription's."
  default     = ""

  validation {
    condition     = var.tenant_id == "" || can(regex("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", var.tenant_id))
    error_message = "Variable tenant_id has to be such as 00000000-0000-0000-0000-000000000000."
  }
}

variable "client_id" {
  type        = string
  description = "Service principal. Empty where use_azure_cli_auth is true."
  default     = ""

  validation {
    condition     = var.client_id == "" || can(regex("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", var.client_id))
    error_message = "Variable client_id has to be such as 00000000-0000-0000-0000-000000000000."
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
