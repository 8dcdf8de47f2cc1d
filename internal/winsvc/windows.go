package winsvc

import "strings"

// windowsServices are services of Windows Server 2022 that others sensibly
// depend on, or mustn't be confused with, and the agents that virtual
// machines bring (https://learn.microsoft.com/windows-server/security/windows-services/security-guidelines-for-disabling-system-services-in-windows-server).
const windowsServices = ` afd appinfo bfe bits browser certpropsvc cryptsvc dcomlaunch dhcp dnscache dps eventlog eventsystem
 gpsvc hns http hvhost iphlpsvc keyiso lanmanserver lanmanworkstation lmhosts lsm mpssvc mrxsmb msiscsi netlogon
 netman netprofm nlasvc nsi nvagent plugplay power profsvc rpceptmapper rpclocator rpcss samss schedule seclogon
 sens shellhwdetection spooler sshd ssh-agent storsvc tcpip termservice timebrokersvc trustedinstaller
 vds vgauthservice vmcompute vmms vmtools vmictimesync vmicheartbeat vss w32time wcmsvc wdnissvc windefend
 winhttpautoproxysvc winmgmt winrm wuauserv amazonssmagent gceagent windowsazureguestagent rdagent `

// KnownWindowsService reports whether name is one of Windows' own services,
// or of a hypervisor's agent. A name that isn't known may still be one.
func KnownWindowsService(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \n") && strings.Contains(strings.ReplaceAll(windowsServices, "\n", " "), " "+strings.ToLower(name)+" ")
}
