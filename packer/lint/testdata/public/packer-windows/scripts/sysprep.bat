if exist a:\unattend.xml (
  c:\windows\system32\sysprep\sysprep.exe /generalize /oobe /shutdown /unattend:a:\unattend.xml
) else (
  c:\windows\system32\sysprep\sysprep.exe /generalize /oobe /shutdown /quiet
)
