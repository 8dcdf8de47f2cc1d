# The last step before sysprep.exe /generalize.
& 'C:\verify.exe' 'node' 'check' '--image'
if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }
