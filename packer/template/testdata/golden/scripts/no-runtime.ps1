# The operator brings containerd and fails on a node that has one already.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "no-runtime failed: $_"; exit 1 }

foreach ($name in 'docker', 'containerd', 'com.docker.service') {
    if (Get-Service -Name $name -ErrorAction SilentlyContinue) {
        throw "the service $name is there, and the operator installs the container runtime itself: take it out of the base image"
    }
}

exit 0
