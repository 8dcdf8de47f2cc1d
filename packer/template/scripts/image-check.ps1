# The last look before sysprep: verify.exe asks Windows whether it is what a node's
# image has to be. WINBAKE_PROFILE is the image's. The file is gone where the variable
# verify_exe is empty.
{{template "strict" "image-check"}}

$verify = 'C:\ProgramData\winbake\verify.exe'
if (-not (Test-Path -Path $verify)) {
    Write-Output 'NOT CHECKED: verify_exe names no verify.exe, so nobody looks at this image before sysprep'
    exit 0
}
& $verify node check --image --profile $env:WINBAKE_PROFILE -o json
$code = $LASTEXITCODE
if ($code -ne 0) {
    # The same for people.
    & $verify node check --image --profile $env:WINBAKE_PROFILE
    throw "verify.exe node check --image ended with ${code}: 3 is for what is wrong with the image, 4 for what Windows didn't answer"
}
Remove-Item -Path $verify -Force
