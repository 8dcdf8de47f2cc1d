# What a node needs of Windows beyond its programs. WINBAKE_TIME_ZONE is a time zone
# by Windows' name.
{{template "strict" "node-settings"}}

{{template "program"}}

# Updates come with the next image: Windows would restart a node under its pods, at
# a time that no drain knows of. image-builder has the same policy.
$policy = 'HKLM:\SOFTWARE\Policies\Microsoft\Windows\WindowsUpdate\AU'
if (-not (Test-Path -Path $policy)) {
    New-Item -Path $policy -Force | Out-Null
}
New-ItemProperty -Path $policy -Name 'NoAutoUpdate' -Value 1 -PropertyType DWord -Force | Out-Null

# Defender opens each file of a layer that containerd unpacks and each volume that a
# pod mounts, which makes pods start slowly and keeps files open that have to be
# removed. Microsoft excludes the same on AKS (https://github.com/Azure/AgentBaker/pull/8245),
# and WMCO containerd. Users can't write there; images are scanned in registries.
if (Get-Command -Name 'Add-MpPreference' -ErrorAction SilentlyContinue) {
    Add-MpPreference -ExclusionPath 'C:\k', 'C:\ProgramData\containerd', 'C:\Program Files\containerd', 'C:\var\lib\kubelet', 'C:\var\log'
    Add-MpPreference -ExclusionProcess 'C:\k\containerd\containerd.exe', 'C:\k\containerd\containerd-shim-runhcs-v1.exe', 'C:\k\kubelet.exe', 'C:\k\csi-proxy.exe'
}

# All memory of user programs is virtual, and Kubernetes' documentation calls page
# files mandatory (https://kubernetes.io/docs/concepts/configuration/windows-resource-management/).
# Clouds' images have theirs on the disk that is right there.
if (-not (Get-CimInstance -ClassName 'Win32_PageFileUsage')) {
    Get-CimInstance -ClassName 'Win32_ComputerSystem' | Set-CimInstance -Property @{ AutomaticManagedPagefile = $true }
}

# High performance: quicker to answer than Balanced, for more energy
# (https://learn.microsoft.com/windows-server/administration/performance-tuning/hardware/power/processor-power-management-tuning).
Invoke-Program 'powercfg.exe' @('/setactive', '8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c')

Invoke-Program 'tzutil.exe' @('/s', "`"$($env:WINBAKE_TIME_ZONE)`"")
