# Once in each machine that is made of the image, on AWS, Azure and Google, whose
# agents name machines: is it called what the platform's metadata says? A task starts
# it with Windows. WINBAKE_PROFILE is the image's.
param([string] $For)
{{template "logged" "cloud-name"}}

{{template "nameevent"}}

{{template "firstboot"}}

{{template "setup"}}

if ($env:WINBAKE_PROFILE) {
    Register-FirstBoot 'cloud-name' "-For $($env:WINBAKE_PROFILE)"
    Stop-Transcript | Out-Null
    exit 0
}
Wait-Setup

# What the platform has Windows called.
function Get-PlatformName {
    if (Test-Path -Path 'C:\Program Files\Amazon') {
        $ec2 = 'http://169.254.169.254/latest'
        # EC2Launch leaves Windows under a name of its own, such as EC2AMAZ-1234567
        # (https://docs.aws.amazon.com/AWSEC2/latest/WindowsGuide/ec2launch-v2-settings.html).
        # Nodes are called what the metadata says, and WMCO asks for it without a token
        # (getHostnameCmd in pkg/services/services.go of
        # https://github.com/openshift/windows-machine-config-operator).
        $headers = @{}
        if ($For -ne 'openshift') {
            $headers['X-aws-ec2-metadata-token'] = Invoke-RestMethod -Method Put -Uri "$ec2/api/token" -Headers @{ 'X-aws-ec2-metadata-token-ttl-seconds' = '300' }
        }
        Invoke-RestMethod -Uri "$ec2/meta-data/local-hostname" -Headers $headers | Out-Null
        return $env:COMPUTERNAME
    }
    if (Test-Path -Path 'C:\Program Files\Google') {
        # Google's agent gives Windows the first part (sysprep/instance_setup.ps1 of
        # https://github.com/GoogleCloudPlatform/compute-image-windows), of which
        # NetBIOS takes 15 characters.
        $name = (Invoke-RestMethod -Uri 'http://metadata.google.internal/computeMetadata/v1/instance/hostname' -Headers @{ 'Metadata-Flavor' = 'Google' }).Split('.')[0]
        return $name.Substring(0, [Math]::Min(15, $name.Length))
    }
    # https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
    Invoke-RestMethod -Uri 'http://169.254.169.254/metadata/instance/compute/osProfile/computerName?api-version=2021-02-01&format=text' -Headers @{ Metadata = 'true' }
}

# The network may not be there yet.
$wanted = ''
$failure = 'it is empty'
for ($try = 1; $try -le 30 -and -not $wanted; $try++) {
    try {
        $wanted = "$(Get-PlatformName)".Trim()
    }
    catch {
        $failure = "$_"
        Start-Sleep -Seconds 10
    }
}
Write-Output "the platform has this machine called $wanted"
if (-not $wanted) {
    $text = "The platform's metadata service doesn't say what this machine is called: $failure. The node's name comes from there."
    if ($For -eq 'openshift' -and (Test-Path -Path 'C:\Program Files\Amazon')) {
        $text += ' The operator asks without a token: the MachineSet needs metadataServiceOptions with authentication: Optional.'
    }
    Write-NameEvent $text
}
elseif ($env:COMPUTERNAME -ne $wanted) {
    Write-NameEvent "This machine is called $($env:COMPUTERNAME), and the platform calls it ${wanted}, as the cluster does. Rename-Computer -NewName $wanted -Restart gives it the name."
}
