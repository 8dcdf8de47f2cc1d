& C:\Windows\System32\Sysprep\sysprep.exe $env:ARGUMENTS
