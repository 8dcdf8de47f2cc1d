Write-Output 1
