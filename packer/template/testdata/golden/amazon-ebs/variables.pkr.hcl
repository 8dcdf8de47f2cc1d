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

variable "region" {
  type        = string
  description = "Region in which the image is made."

  validation {
    condition     = can(regex("^[a-z]{2,}(-[a-z]+)+-[0-9]+$", var.region))
    error_message = "Variable region has to be such as us-east-1."
  }
}

variable "instance_type" {
  type        = string
  description = "Type of the instance that the image is made on."
  default     = "m6i.xlarge"

  validation {
    condition     = length(var.instance_type) > 0
    error_message = "Variable instance_type can't be empty."
  }
}

variable "source_ami_name" {
  type        = string
  description = "Name of Amazon's image; the newest one is taken."
  default     = "Windows_Server-2022-English-Core-Base-*"

  validation {
    condition     = length(var.source_ami_name) > 0
    error_message = "Variable source_ami_name can't be empty."
  }

  validation {
    condition     = !can(regex("20(12|16|19|22|25)|Windows (7|8|10|11)\\b", var.source_ami_name)) || can(regex("2022", var.source_ami_name))
    error_message = "Variable source_ami_name names another Windows than Windows Server 2022, which the template is for."
  }
}

variable "disk_gb" {
  type        = number
  description = "Size of the disk in GB."
  default     = 128

  validation {
    condition     = var.disk_gb >= 40
    error_message = "Variable disk_gb has to be 40 at least."
  }
}

variable "vpc_id" {
  type        = string
  description = "VPC of the instance. Empty is subnet_id's, or the default one."
  default     = ""

  validation {
    condition     = var.vpc_id == "" || can(regex("^vpc-[0-9a-f]+$", var.vpc_id))
    error_message = "Variable vpc_id has to be such as vpc-0123abcd."
  }
}

variable "subnet_id" {
  type        = string
  description = "Subnet of the instance. Empty is the default VPC's."
  default     = ""

  validation {
    condition     = var.subnet_id == "" || can(regex("^subnet-[0-9a-f]+$", var.subnet_id))
    error_message = "Variable subnet_id has to be such as subnet-0123abcd."
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
