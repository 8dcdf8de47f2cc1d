$end = -join ((97..122) | Get-Random -Count 5 | ForEach-Object { [char]$_ })
Rename-Computer -NewName "win-$end" -Force -Restart
