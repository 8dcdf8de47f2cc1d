# The folder of what is ours in the image.
#prelude

New-Item -ItemType Directory -Force -Path 'C:\ProgramData\winbake' | Out-Null
