package imagecheck

import (
	"regexp"
	"slices"
	"strings"
)

// The questions for what a build leaves behind.

// winHTTP wants no proxy of the machine's.
func winHTTP(w *asked) Answer {
	proxy, err := w.WinHTTPProxy()
	w.answered(err)
	if proxy != "" {
		return wrong("%s", proxy)
	}
	return right("none")
}

// fixedDNS wants interfaces that take their DNS servers from DHCP.
func fixedDNS(w *asked) Answer {
	const parameters = `HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters`
	cards, err := w.Keys(parameters + `\Interfaces`)
	w.answered(err)
	places := []place{{parameters, "NameServer"}}
	for _, card := range cards {
		places = append(places, place{parameters + `\Interfaces\` + card, "NameServer"})
	}
	return empty(places...)(w)
}

// hosts wants no entries but comments.
func hosts(w *asked) Answer {
	data, _ := w.read(`C:\Windows\System32\drivers\etc\hosts`)
	var entries []string
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			entries = append(entries, line)
		}
	}
	return none(entries)
}

// users wants no local user but Windows' own. cloudbase-init runs as one.
func users(w *asked) Answer {
	all, err := w.Users()
	w.answered(err)
	return none(slices.DeleteFunc(all, func(name string) bool { return strings.EqualFold(name, "cloudbase-init") }))
}

// noFiles wants none that a pattern names.
func noFiles(patterns ...string) question {
	return func(w *asked) Answer {
		var there []string
		for _, p := range patterns {
			files, err := w.Glob(p)
			w.answered(err)
			there = append(there, files...)
		}
		return none(there)
	}
}

// answerFiles are where Windows Setup and sysprep look for answers, and leave them.
var answerFiles = []string{
	`C:\unattend.xml`, `C:\autounattend.xml`, `C:\Windows\Panther\unattend.xml`, `C:\Windows\Panther\unattend-original.xml`,
	`C:\Windows\Panther\Unattend\unattend.xml`, `C:\Windows\Panther\Unattend\autounattend.xml`,
}

// password is one that Setup didn't replace by *SENSITIVE*DATA*DELETED*.
var password = regexp.MustCompile(`(?is)<(AdministratorPassword|Password)>\s*<Value>\s*[^*<\s]`)

// noPasswords wants answer files without the build's passwords.
func noPasswords(w *asked) Answer {
	var there []string
	for _, file := range answerFiles {
		if data, _ := w.read(file); password.Match(data) {
			there = append(there, file)
		}
	}
	return none(there)
}

// noAutoLogon wants nobody to be logged on by himself.
func noAutoLogon(w *asked) Answer {
	const key = currentVersion + `\Winlogon`
	var there []string
	if w.value(key, "AutoAdminLogon") == "1" {
		there = append(there, "AutoAdminLogon=1")
	}
	if w.value(key, "DefaultPassword") != "" {
		there = append(there, "a DefaultPassword")
	}
	return none(there)
}
