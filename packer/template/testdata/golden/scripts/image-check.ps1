# The last look before sysprep: verify.exe asks Windows whether it is what a node's
# image has to be. WINBAKE_PROFILE is the image's, WINBAKE_ACCEPT the IDs of findings
# that don't matter, with semicolons. Without the variable verify_exe there is no file.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "image-check failed: $_"; exit 1 }

$verify = 'C:\ProgramData\winbake\verify.exe'
if (-not (Test-Path -Path $verify)) {
    Write-Output 'NOT CHECKED: verify_exe names no verify.exe, so nobody looks at this image before sysprep'
    exit 0
}
$accept = @("$env:WINBAKE_ACCEPT".Split(';') | Where-Object { $_ } | ForEach-Object { "--accept=$_" })
& $verify node check --image --profile $env:WINBAKE_PROFILE -o json @accept
$code = $LASTEXITCODE
if ($code -ne 0) {
    # The same for people.
    & $verify node check --image --profile $env:WINBAKE_PROFILE @accept
    throw "verify.exe node check --image ended with ${code}: 3 is for what is wrong with the image, 4 for what Windows didn't answer"
}
Remove-Item -Path $verify -Force

exit 0
