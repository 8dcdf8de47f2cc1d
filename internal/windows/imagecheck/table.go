package imagecheck

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
)

// How bad a wrong answer is. A profile that a row doesn't name doesn't ask.
const (
	block = finding.Block
	warn  = finding.Warn
)

// Sources that several rows have.
const (
	wmcoImage   = "https://github.com/openshift/windows-machine-config-operator/blob/master/docs/vsphere-golden-image.md"
	wmcoNeeds   = "https://github.com/openshift/windows-machine-config-operator/blob/master/docs/wmco-prerequisites.md"
	wmcoBYOH    = "https://github.com/openshift/windows-machine-config-operator/blob/master/docs/byoh-instance-pre-requisites.md"
	wmcoCleanup = "https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/daemon/cleanup/cleanup.go"
	opensshKeys = "https://learn.microsoft.com/windows-server/administration/openssh/openssh_keymanagement"
	sysprepDocs = "https://learn.microsoft.com/windows-hardware/manufacture/desktop/sysprep--generalize--a-windows-installation"
)

// Table is what an image is held to: the checklist of the Windows Machine Config
// Operator (WMCO), and what public reports say of images that failed.
var Table = slices.Concat(windowsRows, sshRows, portRows, nodeRows, vmwareRows, sysprepRows, leftRows)

// Windows itself.
var windowsRows = []Row{
	{
		ID: "image.windows.build", Object: "Windows", OpenShift: block,
		Ask: build(681, func(maker string) bool {
			return strings.HasPrefix(maker, amazon) || strings.HasPrefix(maker, azure)
		}),
		Expected: "Windows Server 2022 (20348.681 or later) or 2025 (26100); on AWS and Azure 2019 (17763) too",
		Why:      "WMCO supports no other release, and pods have no network before KB5012637",
		Fix:      "install the release from its ISO, and its updates before this check", Source: wmcoNeeds,
	},
	{
		ID: "image.windows.build", Object: "Windows", Generic: block,
		Ask:      build(0, func(string) bool { return true }),
		Expected: "Windows Server 2019 (17763), 2022 (20348) or 2025 (26100)",
		Why:      "Kubernetes runs no nodes on other releases",
		Fix:      "install one of these releases", Source: "https://kubernetes.io/docs/concepts/windows/intro/#windows-os-version-support",
	},
	{
		ID: "image.windows.server", Object: "Windows", OpenShift: block, Generic: block,
		Ask:      oneOf(currentVersion, "InstallationType", "Server", "Server Core"),
		Expected: "Server or Server Core",
		Why:      "a node is a Windows Server",
		Fix:      "install Windows Server", Source: wmcoNeeds,
	},
	{
		ID: "image.windows.evaluation", Object: "Windows", OpenShift: block, Generic: block,
		Ask:      notEvaluation,
		Expected: "an edition without an end",
		Why:      "an evaluation ends after 180 days: then Windows shuts down every hour",
		Fix:      "install from an ISO of the Volume Licensing Service Center, or DISM /Online /Set-Edition:ServerStandard /ProductKey:KEY /AcceptEula",
		Source:   "https://learn.microsoft.com/windows-server/get-started/upgrade-conversion-options",
	},
	{
		ID: "image.windows.language", Object: "Windows", OpenShift: block,
		Ask:      oneOf(`HKLM\SYSTEM\CurrentControlSet\Control\Nls\Language`, "InstallLanguage", "0409"),
		Expected: "0409, en-US",
		Why:      "WMCO reads what Windows' programs write in English",
		Fix:      "install an en-US Windows", Source: "https://docs.redhat.com/en/documentation/openshift_container_platform/4.18/html/windows_container_support_for_openshift/release-notes",
	},
	{
		ID: "image.windows.containers", Object: "feature Containers", OpenShift: warn, Generic: block,
		Ask:      installState("Containers"),
		Expected: "InstallState=1, enabled",
		Why:      "containerd starts no container without it; WMCO enables it, with a restart of each new node",
		Fix:      "Install-WindowsFeature -Name Containers -Restart", Source: wmcoImage,
	},
	{
		ID: "image.windows.page-file", Object: "page file", OpenShift: warn, Generic: warn,
		Ask:      pageFile,
		Expected: "at least one",
		Why:      "Windows ends no process for want of memory, it pages: without a file, pods fail at random",
		Fix:      "Get-CimInstance Win32_ComputerSystem | Set-CimInstance -Property @{ AutomaticManagedPagefile = $true }",
		Source:   "https://kubernetes.io/docs/concepts/configuration/windows-resource-management/",
	},
	{
		ID: "image.windows.tls", Object: "TLS 1.2", OpenShift: warn, Generic: warn,
		Ask:      tls12,
		Expected: "switched on for clients and servers",
		Why:      "registries, clouds and update servers refuse older versions",
		Fix:      `remove Enabled and DisabledByDefault below HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\SCHANNEL\Protocols\TLS 1.2`,
		Source:   "https://learn.microsoft.com/windows-server/security/tls/tls-registry-settings",
	},
	{
		ID: "image.windows.updates", Object: "service wuauserv", OpenShift: warn, Generic: warn,
		Ask:      enabled("wuauserv"),
		Expected: "manual or automatic",
		Why:      "features and capabilities come through it: OpenSSH's fails with 0x80070422 in a clone whose user data installs it",
		Fix:      "Set-Service -Name wuauserv -StartupType Manual", Source: "https://github.com/microsoft/WSL/issues/8694",
	},
}

// SSH, by which WMCO sets up a node.
var sshRows = []Row{
	{
		ID: "image.ssh.sshd", Object: "service sshd", OpenShift: block, Later: true,
		Ask:      starts("sshd"),
		Expected: "automatic, running",
		Why:      "WMCO sets up a node over SSH",
		Fix:      "Set-Service -Name sshd -StartupType Automatic; Start-Service -Name sshd", Source: wmcoImage,
	},
	{
		ID: "image.ssh.agent", Object: "service ssh-agent", OpenShift: warn, Later: true,
		Ask:      starts("ssh-agent"),
		Expected: "automatic, running",
		Why:      "WMCO's documentation asks for it",
		Fix:      "Set-Service -Name ssh-agent -StartupType Automatic; Start-Service -Name ssh-agent", Source: wmcoImage,
	},
	{
		ID: "image.ssh.keys", Object: adminKeys, OpenShift: block, Later: true,
		Ask:      hasKey,
		Expected: "the public half of the key in the secret cloud-private-key",
		Why:      "nobody can log on to a clone: keys in the administrator's home don't outlive sysprep",
		Fix:      "write the key with Set-Content -Encoding Ascii", Source: "https://github.com/openshift/windows-machine-config-operator/issues/484",
	},
	{
		ID: "image.ssh.keys-encoding", Object: adminKeys, OpenShift: block, Generic: block,
		Ask:      notUTF16(adminKeys),
		Expected: "ASCII or UTF-8",
		Why:      "sshd finds no key in UTF-16, and says nothing of it",
		Fix:      "write the file with Set-Content -Encoding Ascii: Out-File and > write UTF-16", Source: "https://github.com/PowerShell/Win32-OpenSSH/issues/2070",
	},
	{
		ID: "image.ssh.keys-access", Object: adminKeys, OpenShift: block, Generic: block,
		Ask:      forAdministrators(adminKeys),
		Expected: "Administrators (BA) and SYSTEM (SY), and nobody else",
		Why:      "sshd ignores the file if others may have changed it",
		Fix:      `icacls.exe ` + adminKeys + ` /inheritance:r /grant "*S-1-5-32-544:F" /grant "*S-1-5-18:F"`, Source: opensshKeys,
	},
	{
		ID: "image.ssh.config-encoding", Object: sshdConfig, OpenShift: block, Generic: block,
		Ask:      notUTF16(sshdConfig),
		Expected: "ASCII or UTF-8",
		Why:      "sshd doesn't start with a file in UTF-16",
		Fix:      "write the file with Set-Content -Encoding Ascii, then: sshd.exe -t", Source: "https://github.com/MicrosoftDocs/windowsserverdocs/issues/6748",
	},
	{
		ID: "image.ssh.config", Object: sshdConfig, OpenShift: block, Later: true,
		Ask:      readsAdminKeys,
		Expected: "Match Group administrators, AuthorizedKeysFile __PROGRAMDATA__/ssh/administrators_authorized_keys, no PubkeyAuthentication no",
		Why:      "sshd doesn't look for the administrators' keys where they are",
		Fix:      "put the default's two lines for administrators at the file's end", Source: "https://learn.microsoft.com/windows-server/administration/openssh/openssh-server-configuration",
	},
	{
		ID: "image.ssh.host-keys", Object: "sshd's host keys", OpenShift: warn, Generic: warn, Later: true,
		Ask:      hostKeys,
		Expected: "none in the image",
		Why:      "all clones would have the same: who reads one node's can pose as any other",
		Fix:      `remove C:\ProgramData\ssh\ssh_host_* in C:\Windows\Setup\Scripts\SetupComplete.cmd, with sshd stopped: it makes new ones`,
		Source:   "https://github.com/PowerShell/Win32-OpenSSH/wiki/Install-Win32-OpenSSH",
	},
}

// The ports that a cluster reaches a node by.
var portRows = []Row{
	portRow("image.port.ssh", "OpenSSH-Server-In-TCP", 22, Row{OpenShift: block, Why: "WMCO can't reach the node; the rule of Windows Server 2025 is for private networks alone", Source: "https://github.com/OpenNebula/one-apps/pull/345"}),
	portRow("image.port.kubelet", "ContainerLogsPort", 10250, Row{OpenShift: block, Generic: block, Why: "oc logs, oc exec and metrics of pods don't work", Source: wmcoImage}),
	portRow("image.port.exporter", "WindowsExporter", 9182, Row{OpenShift: block, Why: "the node has no metrics", Source: wmcoImage}),
}

// What else a node runs, or doesn't.
var nodeRows = []Row{
	{
		ID: "image.node.runtime", Object: "container runtime", OpenShift: block,
		Ask:      noService("docker", "containerd", "com.docker.service"),
		Expected: "none",
		Why:      "WMCO installs containerd itself, and fails on a node that has one",
		Fix:      "uninstall it, or take a base image without it", Source: wmcoBYOH,
	},
	{
		ID: "image.node.csi-proxy", Object: "service csi-proxy", OpenShift: block,
		Ask:      operatorsProxy,
		Expected: `none, or csi-proxy as C:\k\csi-proxy.exe; no csiproxy that may start`,
		Why:      "WMCO makes its own of this name. One named csiproxy holds the pipes, and WMCO's can't start",
		Fix:      "Stop-Service -Name csiproxy; Set-Service -Name csiproxy -StartupType Disabled", Source: wmcoCleanup,
	},
	{
		ID: "image.node.csi-proxy", Object: "service csi-proxy", Generic: block,
		Ask:      oneProxy,
		Expected: "one at most",
		Why:      "only one of two can serve the pipes",
		Fix:      "Stop-Service -Name csiproxy; Set-Service -Name csiproxy -StartupType Disabled", Source: "https://github.com/kubernetes-csi/csi-proxy/issues/80",
	},
	{
		ID: "image.node.workstation", Object: "service LanmanWorkstation", OpenShift: block, Generic: block,
		Ask:      starts("LanmanWorkstation"),
		Expected: "automatic, running",
		Why:      "no SMB or Azure File volume can be mounted: the Workstation service has not been started",
		Fix:      "Set-Service -Name LanmanWorkstation -StartupType Automatic; Start-Service -Name LanmanWorkstation", Source: "https://github.com/kubernetes-csi/csi-driver-smb/issues/844",
	},
	{
		ID: "image.node.ec2launch", Object: "EC2Launch", OpenShift: warn, On: amazon,
		Ask:      atLeast("2.0.1643", `C:\Program Files\Amazon\EC2Launch\EC2Launch.exe`, "version"),
		Expected: "2.0.1643 or later",
		Why:      "an older one gives nodes a name that WMCO doesn't know",
		Fix:      "take a newer AMI of Windows, or install the agent's newest release", Source: "https://github.com/openshift/windows-machine-config-operator/blob/master/docs/machineset-aws.md",
	},
}

// VMware's machines.
var vmwareRows = []Row{
	{
		ID: "image.vmware.service", Object: "service VMTools", OpenShift: block, Generic: warn, On: vmware,
		Ask:      starts("VMTools"),
		Expected: "automatic, running",
		Why:      "vCenter doesn't learn a node's address, and the Machine API waits for it forever",
		Fix:      "install VMware Tools; Set-Service -Name VMTools -StartupType Automatic", Source: wmcoImage,
	},
	{
		ID: "image.vmware.version", Object: "VMware Tools", OpenShift: block, Generic: warn, On: vmware,
		Ask:      atLeast("11.0.6", `C:\Program Files\VMware\VMware Tools\vmtoolsd.exe`, "--version"),
		Expected: "11.0.6 or later",
		Why:      "WMCO's documentation names this version as the least",
		Fix:      "install a newer VMware Tools", Source: wmcoImage,
	},
	{
		ID: "image.vmware.exclude-nics", Object: `C:\ProgramData\VMware\VMware Tools\tools.conf`, OpenShift: block, On: vmware,
		Ask:      excludesNoCards,
		Expected: "exclude-nics=, with nothing behind it",
		Why:      "by default VMware Tools hides the virtual cards of container networks, and vCenter loses a node's address",
		Fix:      "write exclude-nics= below [guestinfo]", Source: wmcoImage,
	},
	{
		ID: "image.vmware.disk-uuid", Object: "disk.EnableUUID", OpenShift: warn, Generic: warn, On: vmware,
		Ask:      diskSerial,
		Expected: "a serial number of the disk",
		Why:      "the vSphere CSI driver finds no volume on a node: disks don't tell who they are",
		Fix:      "set disk.EnableUUID = TRUE on the machine that becomes the template", Source: "https://github.com/kubernetes-sigs/vsphere-csi-driver/issues/92",
	},
}

// What stops sysprep, or makes an image of half a machine.
var sysprepRows = []Row{
	{
		ID: "image.sysprep.restart", Object: "restart", OpenShift: block, Generic: block,
		Ask: noKeys(`HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending`,
			`HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\PackagesPending`,
			`HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired`),
		Expected: "none pending",
		Why:      "sysprep refuses a Windows that waits for a restart, or each clone ends the updates",
		Fix:      "restart the machine before this check: a windows-restart provisioner", Source: "https://developer.hashicorp.com/packer/docs/provisioners/windows-restart",
	},
	{
		ID: "image.sysprep.bitlocker", Object: "drive C:", OpenShift: block, Generic: block,
		Ask:      decrypted,
		Expected: "not encrypted by BitLocker",
		Why:      "sysprep refuses an encrypted drive (0x80310039), also while its protection is off",
		Fix:      "manage-bde.exe -off C:, and wait until manage-bde.exe -status says Fully Decrypted", Source: "https://github.com/canonical/packer-maas/issues/341",
	},
	{
		ID: "image.sysprep.appx", Object: "Appx packages", OpenShift: block, Generic: block,
		Ask:      forOneUser,
		Expected: "none that is installed for one user alone",
		Why:      "sysprep ends with 0x80073cf2",
		Fix:      "Remove-AppxPackage -AllUsers -Package NAME", Source: "https://learn.microsoft.com/troubleshoot/windows-client/setup-upgrade-and-drivers/sysprep-fails-remove-or-update-store-apps",
	},
	{
		ID: "image.sysprep.password", Object: "answer files", OpenShift: block, Generic: block,
		Ask:      noPasswords,
		Expected: "no password in one of an earlier Setup",
		Why:      "everybody who has a clone can read the build's password",
		Fix:      "end the build with a step that takes the file away", Source: "https://learn.microsoft.com/windows-hardware/manufacture/desktop/windows-setup-automation-overview",
	},
	{
		ID: "image.sysprep.answers", Object: "answer files", OpenShift: warn, Generic: warn,
		Ask:      noFiles(answerFiles...),
		Expected: "none but the one that sysprep is given",
		Why:      "Setup finds it in each clone, and does what it says there again",
		Fix:      "end the build with a step that takes the file away", Source: "https://learn.microsoft.com/windows-hardware/manufacture/desktop/windows-setup-automation-overview",
	},
}

// What a build leaves behind.
var leftRows = []Row{
	{
		ID: "image.left.logon", Object: "automatic logon", OpenShift: block, Generic: block,
		Ask:      noAutoLogon,
		Expected: "none",
		Why:      "each clone logs an administrator on, and has the password in the registry",
		Fix:      "set AutoAdminLogon to 0 and remove DefaultPassword", Source: "https://learn.microsoft.com/troubleshoot/windows-server/user-profiles-and-logon/turn-on-automatic-logon",
	},
	{
		ID: "image.left.proxy", Object: "HTTP_PROXY, HTTPS_PROXY, NO_PROXY", OpenShift: warn, Generic: warn,
		Ask:      empty(place{machineVariables, "HTTP_PROXY"}, place{machineVariables, "HTTPS_PROXY"}, place{machineVariables, "NO_PROXY"}),
		Expected: "none for the machine: the cluster tells nodes theirs",
		Why:      "containerd and the kubelet go through the build's proxy",
		Fix:      "[Environment]::SetEnvironmentVariable('HTTP_PROXY', $null, 'Machine'), and the others", Source: "https://docs.redhat.com/en/documentation/openshift_container_platform/4.18/html/networking/enable-cluster-wide-proxy",
	},
	{
		ID: "image.left.winhttp", Object: "proxy of WinHTTP", OpenShift: warn, Generic: warn,
		Ask:      winHTTP,
		Expected: "none",
		Why:      "Windows' services go through the build's proxy",
		Fix:      "netsh.exe winhttp reset proxy", Source: "https://learn.microsoft.com/windows/win32/winhttp/netsh-exe-commands",
	},
	{
		ID: "image.left.dns", Object: "DNS servers", OpenShift: warn, Generic: warn,
		Ask:      fixedDNS,
		Expected: "from DHCP",
		Why:      "a clone asks the build's DNS server, which doesn't know the cluster",
		Fix:      "Get-NetAdapter | Set-DnsClientServerAddress -ResetServerAddresses", Source: wmcoImage,
	},
	{
		ID: "image.left.hosts", Object: `C:\Windows\System32\drivers\etc\hosts`, OpenShift: warn, Generic: warn,
		Ask:      hosts,
		Expected: "no entries",
		Why:      "a name of the build's stays what it was, whatever DNS says",
		Fix:      "remove the entries", Source: wmcoImage,
	},
	{
		ID: "image.left.users", Object: "local users", OpenShift: warn, Generic: warn,
		Ask:      users,
		Expected: "none but Windows' own",
		Why:      "who knows the user's password can log on to each clone: sysprep keeps users that are enabled",
		Fix:      "Disable-LocalUser -Name NAME", Source: sysprepDocs,
	},
	{
		ID: "image.left.home-keys", Object: "keys in users' folders", OpenShift: warn, Generic: warn,
		Ask:      noFiles(`C:\Users\*\.ssh\authorized_keys`, `C:\Users\*\.ssh\id_*`),
		Expected: "none",
		Why:      "the build's keys open each clone, or are lost with sysprep",
		Fix:      `remove the files below .ssh; administrators' public keys belong into ` + adminKeys, Source: "https://github.com/openshift/windows-machine-config-operator/issues/579",
	},
}

const machineVariables = `HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment`
