package csidriver

import (
	"strings"

	"github.com/winbake/winbake/internal/fault"
)

type windowsRelease struct {
	name  string // 2022
	build int    // 20348
	// image runs shell, for the Deployment that tries the driver.
	image, shell string
}

// windowsReleases are those that OpenShift's Windows nodes run or ran. The
// first is what --windows stands at: all releases since 4.10 support it.
var windowsReleases = []windowsRelease{
	{"2022", 20348, "mcr.microsoft.com/powershell:lts-nanoserver-ltsc2022", "pwsh.exe"},
	{"2019", 17763, "mcr.microsoft.com/powershell:lts-nanoserver-1809", "pwsh.exe"},
	{"2025", 26100, "mcr.microsoft.com/windows/servercore:ltsc2025", "powershell.exe"},
}

// WindowsVersions lists them, the usual one first.
func WindowsVersions() []string {
	var names []string
	for _, w := range windowsReleases {
		names = append(names, w.name)
	}
	return names
}

// WindowsBuild is the build of a Windows Server version: 20348 of 2022.
func WindowsBuild(name string) (int, error) {
	w, err := windowsOf(name)
	if err != nil {
		return 0, err
	}
	return w.build, nil
}

func windowsOf(name string) (*windowsRelease, error) {
	for i := range windowsReleases {
		if windowsReleases[i].name == name {
			return &windowsReleases[i], nil
		}
	}
	return nil, &fault.Error{What: "Windows Server " + name + " isn't known", Fix: "--windows, one of " + strings.Join(WindowsVersions(), ", ")}
}
