# Made by bake template, which doesn't write over a file that was changed here. Values
# belong into a var-file.

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

variable "vcenter_server" {
  type        = string
  description = "Host name of vCenter."

  validation {
    condition     = length(var.vcenter_server) > 0
    error_message = "Variable vcenter_server can't be empty."
  }
}

variable "vcenter_username" {
  type        = string
  description = "User of vCenter, such as packer@vsphere.local."

  validation {
    condition     = length(var.vcenter_username) > 0
    error_message = "Variable vcenter_username can't be empty."
  }
}

variable "vcenter_password" {
  type        = string
  description = "Password of vcenter_username."
  sensitive   = true

  validation {
    condition     = length(var.vcenter_password) > 0
    error_message = "Variable vcenter_password can't be empty."
  }
}

variable "vcenter_insecure" {
  type        = bool
  description = "Take any certificate for vCenter's. Anyone who is between Packer and vCenter then reads the passwords."
  default     = false
}

variable "datacenter" {
  type        = string
  description = "Datacenter in vCenter."

  validation {
    condition     = length(var.datacenter) > 0
    error_message = "Variable datacenter can't be empty."
  }
}

variable "datastore" {
  type        = string
  description = "Datastore of the machine's disk."

  validation {
    condition     = length(var.datastore) > 0
    error_message = "Variable datastore can't be empty."
  }
}

variable "network" {
  type        = string
  description = "Network of the machine: an access port, with DHCP."

  validation {
    condition     = length(var.network) > 0
    error_message = "Variable network can't be empty."
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

variable "content_library" {
  type        = string
  description = "Content library that the image goes to as an OVF template called image_name: each build is the item's next version. Empty makes a template in the inventory."
  default     = ""
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

variable "iso_path" {
  type        = string
  description = "Windows' ISO in a datastore: [datastore] folder/file.iso. Empty where iso_url is given."
  default     = ""

  validation {
    condition     = var.iso_path == "" || can(regex("^\\[[^\\]]*\\] \\S.*$", var.iso_path))
    error_message = "Variable iso_path has to be such as [datastore] folder/file.iso."
  }
}

variable "iso_url" {
  type        = string
  description = "URL or file of Windows' ISO, which Packer puts into the datastore. Empty where iso_path is given."
  default     = ""
}

variable "iso_checksum" {
  type        = string
  description = "Sum of the ISO at iso_url, sha256:... or sha512:..."
  default     = ""

  validation {
    condition     = var.iso_checksum == "" || can(regex("^(sha256:[0-9a-fA-F]{64}|sha512:[0-9a-fA-F]{128})$", var.iso_checksum))
    error_message = "Variable iso_checksum has to be sha256: or sha512: and its hexadecimal digits."
  }
}

variable "tools_iso_path" {
  type        = string
  description = "ISO of VMware Tools, which brings the drivers of disk and network. The default is the host's own."
  default     = "[] /vmimages/tools-isoimages/windows.iso"

  validation {
    condition     = can(regex("^\\[[^\\]]*\\] \\S.*$", var.tools_iso_path))
    error_message = "Variable tools_iso_path has to be such as [datastore] folder/file.iso."
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

variable "firmware" {
  type        = string
  description = "efi-secure, efi or bios."
  default     = "efi-secure"

  validation {
    condition     = contains(["efi-secure", "efi", "bios"], var.firmware)
    error_message = "Variable firmware has to be one of efi-secure, efi, bios."
  }
}

variable "vtpm" {
  type        = bool
  description = "Give the machine a TPM. It needs EFI, and a key provider in vCenter."
  default     = false
}

variable "more_networks" {
  type        = list(string)
  description = "Networks of further network cards. WMCO supports nodes with one."
  default     = []
}

variable "hardware_version" {
  type        = number
  description = "Version of the virtual hardware. OpenShift wants 15 at least; vSphere knows Windows Server 2022 from 18 on."
  default     = 19

  validation {
    condition     = var.hardware_version >= 15
    error_message = "Variable hardware_version has to be 15 at least."
  }
}

variable "boot_command" {
  type        = list(string)
  description = "Keys that are typed at boot: EFI asks for one before it starts from a CD. Empty types none."
  default     = ["<spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait><spacebar><wait>"]
}

variable "boot_wait" {
  type        = string
  description = "How long after power-on boot_command is typed."
  default     = "2s"

  validation {
    condition     = can(regex("^[0-9]+(ms|s|m)$", var.boot_wait))
    error_message = "Variable boot_wait has to be such as 2s."
  }
}

variable "cluster" {
  type        = string
  description = "Cluster in which the machine is made. Empty where host is given."
  default     = ""
}

variable "host" {
  type        = string
  description = "ESXi host on which the machine is made. Empty leaves it to the cluster."
  default     = ""
}

variable "folder" {
  type        = string
  description = "Folder of the image. Empty is the datacenter's own."
  default     = ""
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

variable "openssh_zip" {
  type        = string
  description = "OpenSSH-Win64.zip of the Win32-OpenSSH project, for machines without Windows Update. Empty takes the capability of Windows."
  default     = ""

  validation {
    condition     = var.openssh_zip == "" || can(regex("(?i)openssh[^/\\\\]*[.]zip$", var.openssh_zip))
    error_message = "Variable openssh_zip has to be a file such as OpenSSH-Win64.zip."
  }
}

variable "openssh_sha256" {
  type        = string
  description = "Sum of openssh_zip."
  default     = ""

  validation {
    condition     = var.openssh_sha256 == "" || can(regex("^[0-9a-fA-F]{64}$", var.openssh_sha256))
    error_message = "Variable openssh_sha256 has to be 64 hexadecimal digits."
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

variable "updates" {
  type        = string
  description = "windows-update, from whatever server Windows is set to, or none for machines that reach none: then os_build alone says whether Windows is new enough."
  default     = "windows-update"

  validation {
    condition     = contains(["windows-update", "none"], var.updates)
    error_message = "Variable updates has to be one of windows-update, none."
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
  description = "Product key. Empty for evaluation and volume media, which ask for none."
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
  description = "IDs of findings of the node's check that don't end the build."
  default     = []

  validation {
    condition     = length([for a in var.accept : a if !can(regex("^WIN[0-9]{3}(=.+)?$", a))]) == 0
    error_message = "Variable accept has to be IDs such as WIN004, or WIN004=service csi-proxy."
  }
}

variable "verify_binary" {
  type        = string
  description = "The small verify.exe for nodes. Empty takes it from the payload image, else from beside the plugin."
  default     = ""
}
