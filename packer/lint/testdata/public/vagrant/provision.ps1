Write-Output 'What it does is nothing to verify template.'
