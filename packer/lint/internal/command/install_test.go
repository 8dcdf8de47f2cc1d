package command

import (
	"testing"

	"github.com/winbake/winbake/internal/winscript"
)

// TestNewest: what has no version, and what has one in its manager's own way.
func TestNewest(t *testing.T) {
	for script, want := range map[string]string{
		"Install-Module PSWindowsUpdate -Force":                                           "install-module pswindowsupdate",
		"Install-Module -Name PSWindowsUpdate -RequiredVersion 2.2.1.5":                   "",
		"$p = @{ Name = 'Pester'; RequiredVersion = '5.5.0' }\nInstall-Module @p":         "",
		"Install-Module -Name Pester -MinimumVersion 5.0":                                 "install-module pester",
		"Save-Module Pester -Path C:\\m":                                                  "save-module pester",
		"Install-Module -Name $name -Scope AllUsers -Force":                               "install-module $name",
		"Install-Module -Name $name -RequiredVersion $version":                            "",
		"Install-Module @parameters":                                                      "",
		"choco install $name -y":                                                          "choco install $name",
		"pip install $requirement":                                                        "",
		"Install-PSResource Pester -Version 5.5.0":                                        "",
		"Install-PackageProvider -Name NuGet -Force":                                      "install-packageprovider nuget",
		"Install-PackageProvider -Name NuGet -RequiredVersion 2.8.5.201":                  "",
		"Install-Package a -Source C:\\packages":                                          "",
		"Update-Module":                                                                   "update-module",
		"choco install -y git":                                                            "choco install git",
		"choco install git --version 2.45.0 -y":                                           "",
		"choco install git --version=2.45.0":                                              "",
		"choco install packages.config":                                                   "",
		"choco install git -s C:\\packages":                                               "",
		"choco upgrade all -y":                                                            "choco upgrade all",
		"choco list":                                                                      "",
		"cinst git":                                                                       "cinst git",
		"winget install --id Git.Git -e":                                                  "winget install git.git",
		"winget install --id Git.Git --version 2.45.0":                                    "",
		"scoop install git":                                                               "scoop install git",
		"scoop install git@2.45.0":                                                        "",
		"pip install boto3":                                                               "pip install boto3",
		"pip install -U boto3":                                                            "pip install boto3",
		"pip install boto3==1.34.0":                                                       "",
		"pip install boto3==1.34.0 requests":                                              "pip install requests",
		"pip install \"boto3>=1.0\"":                                                      "pip install boto3>=1.0",
		"pip install \"boto3==$env:VERSION\"":                                             "",
		"pip install -r requirements.txt":                                                 "",
		"pip install --no-index --find-links C:\\wheels boto3":                            "",
		"pip install C:\\wheels\\boto3.whl":                                               "",
		"pip install -i https://pypi.example.com/simple boto3==1.34.0":                    "",
		"pip install git+https://github.com/a/b@0123456789012345678901234567890123456789": "",
		"& C:\\Python312\\python.exe -m pip install --upgrade pip":                        "python -m pip install pip",
		"py -3 -m pip --disable-pip-version-check install ansible":                        "py -3 -m pip --disable-pip-version-check install ansible",
		"python setup.py install":                                                         "",
		"npm install -g yarn":                                                             "npm install yarn",
		"npm install -g yarn@1.22.22 '@azure/cli@2.0.1'":                                  "",
		"npm install -g '@azure/static-web-apps-cli' > a.log":                             "npm install @azure/static-web-apps-cli",
		"npm install":                            "",
		"npm ci":                                 "",
		"dotnet tool install -g dotnet-counters": "dotnet tool install dotnet-counters",
		"dotnet tool install -g dotnet-counters --version 8.0.1": "",
		"dotnet build": "",
		"nuget.exe install Newtonsoft.Json -OutputDirectory C:\\n": "nuget install newtonsoft.json",
		"nuget install Newtonsoft.Json -Version 13.0.3":            "",
		"nuget restore":                                                        "",
		"gem install winrm":                                                    "gem install winrm",
		"gem install winrm -v 2.3.6":                                           "",
		"cargo install ripgrep":                                                "cargo install ripgrep",
		"cargo install ripgrep --version 14.1.0":                               "",
		"go install example.com/a@latest":                                      "go install example.com/a@latest",
		"go install example.com/a@v1.2.3":                                      "",
		"docker pull mcr.microsoft.com/windows/nanoserver":                     "docker pull mcr.microsoft.com/windows/nanoserver",
		"docker pull mcr.microsoft.com/windows/nanoserver:latest":              "docker pull mcr.microsoft.com/windows/nanoserver:latest",
		"docker pull mcr.microsoft.com/windows/nanoserver:ltsc2022":            "",
		"docker pull localhost:5000/pause:3.9":                                 "",
		"ctr -n k8s.io images pull mcr.microsoft.com/oss/kubernetes/pause:3.9": "",
		"ctr -n k8s.io images pull example.com/pause":                          "ctr -n k8s.io images pull example.com/pause",
		"Write-Output 'pip install boto3'":                                     "",
	} {
		have := ""
		for _, c := range winscript.Run(script, nil).Commands {
			have += Newest(c)
		}
		if have != want {
			t.Errorf("%s: want %q, have %q", script, want, have)
		}
	}
}
