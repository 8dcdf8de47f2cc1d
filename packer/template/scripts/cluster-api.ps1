# What Cluster API's Windows nodes have beside their files, as image-builder makes
# them (images/capi/ansible/windows/roles of
# https://github.com/kubernetes-sigs/image-builder): programs in the PATH, the CNI's
# folders where network add-ons look for them, and a kubelet that kubeadm configures.
{{template "strict" "cluster-api"}}

{{template "program"}}

# The payload's folders under the names of the field, and the field's own.
New-Item -ItemType Directory -Force -Path 'C:\k\cni\config', 'C:\opt\cni', 'C:\etc\cni', 'C:\etc\kubernetes\manifests', 'C:\var\lib\kubelet', 'C:\var\log\kubelet' | Out-Null
foreach ($pair in @('C:\opt\cni\bin', 'C:\k\cni'), @('C:\etc\cni\net.d', 'C:\k\cni\config'), @('C:\Program Files\containerd', 'C:\k\containerd')) {
    if ((Test-Path -Path $pair[1]) -and -not (Test-Path -Path $pair[0])) {
        New-Item -ItemType Junction -Path $pair[0] -Target $pair[1] | Out-Null
    }
}

$path = [Environment]::GetEnvironmentVariable('Path', 'Machine').Split(';')
$missing = @('C:\k', 'C:\k\containerd' | Where-Object { $path -notcontains $_ })
[Environment]::SetEnvironmentVariable('Path', (($path + $missing) -join ';'), 'Machine')

# Pods resolve the names of SMB shares in their own compartment.
New-Item -Path 'HKLM:\SYSTEM\CurrentControlSet\Services\hns\State' -Force | Out-Null
New-ItemProperty -Path 'HKLM:\SYSTEM\CurrentControlSet\Services\hns\State' -Name 'EnableCompartmentNamespace' -Value 1 -PropertyType DWord -Force | Out-Null
# Services take their ports from the dynamic range, which 16384 doesn't fill.
Invoke-Program 'netsh.exe' @('int', 'ipv4', 'set', 'dynamicportrange', 'tcp', '34000', '31536')

# The payload may bring the kubelet's service itself, or a node that is no kubeadm's.
if ((Test-Path -Path 'C:\k\kubelet.exe') -and -not (Get-Service -Name 'kubelet' -ErrorAction SilentlyContinue)) {
    if (-not (Test-Path -Path 'C:\k\kubeadm.exe')) {
        throw 'the payload has kubelet.exe, and neither a service for it nor kubeadm.exe: no node could join'
    }
    # kubeadm join writes what this node's kubelet is given into kubeadm-flags.env. A
    # service's command is the same at each start, so cmd.exe reads the file
    # (https://github.com/kubernetes-sigs/image-builder/issues/2011).
    Set-Content -Path 'C:\k\kubelet.cmd' -Encoding Ascii -Value @(
        '@echo off'
        'set KUBELET_KUBEADM_ARGS='
        'set flags=C:\var\lib\kubelet\kubeadm-flags.env'
        'if exist %flags% for /f "tokens=1,* delims==" %%a in (%flags%) do set %%a=%%~b'
        'set fixed=--cert-dir=C:/var/lib/kubelet/pki --config=C:/var/lib/kubelet/config.yaml --cgroups-per-qos=false --enforce-node-allocatable= --resolv-conf='
        'set fixed=%fixed% --bootstrap-kubeconfig=C:/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=C:/etc/kubernetes/kubelet.conf'
        'set fixed=%fixed% --container-runtime-endpoint=npipe:////./pipe/containerd-containerd'
        'C:\k\kubelet.exe --windows-service %fixed% %KUBELET_KUBEADM_ARGS%'
    )
    $command = 'C:\Windows\System32\cmd.exe /d /c C:\k\kubelet.cmd'
    if (Test-Path -Path 'C:\k\kube-log-runner.exe') {
        $command = "C:\k\kube-log-runner.exe --log-file=C:/var/log/kubelet/kubelet.log $command"
    }
    $dependency = @{}
    if (Get-Service -Name 'containerd' -ErrorAction SilentlyContinue) {
        $dependency['DependsOn'] = 'containerd'
    }
    New-Service -Name 'kubelet' -BinaryPathName $command -StartupType Automatic @dependency | Out-Null
    Invoke-Program 'sc.exe' @('failure', 'kubelet', 'reset=', '86400', 'actions=', 'restart/10000/restart/30000/restart/60000')
    Invoke-Program 'sc.exe' @('failureflag', 'kubelet', '1')
}
