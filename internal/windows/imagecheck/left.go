package imagecheck

import (
	"regexp"
	"strings"
)

// The questions for what a build leaves behind.

// winHTTP wants no proxy of the machine's.
func winHTTP(w Windows) (Answer, error) {
	proxy, err := w.WinHTTPProxy()
	if err != nil {
		return Answer{}, err
	}
	if proxy != "" {
		return wrong("%s", proxy)
	}
	return right("none")
}

// fixedDNS wants interfaces that take their DNS servers from DHCP.
func fixedDNS(w Windows) (Answer, error) {
	const parameters = `HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters`
	cards, err := w.Keys(parameters + `\Interfaces`)
	if err != nil {
		return Answer{}, err
	}
	places := []place{{parameters, "NameServer"}}
	for _, card := range cards {
		places = append(places, place{parameters + `\Interfaces\` + card, "NameServer"})
	}
	return empty(places...)(w)
}

// hosts wants no entries but comments.
func hosts(w Windows) (Answer, error) {
	data, err := w.Read(`C:\Windows\System32\drivers\etc\hosts`)
	if err != nil && !absent(err) {
		return Answer{}, err
	}
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
func users(w Windows) (Answer, error) {
	all, err := w.Users()
	if err != nil {
		return Answer{}, err
	}
	var left []string
	for _, name := range all {
		if !strings.EqualFold(name, "cloudbase-init") {
			left = append(left, name)
		}
	}
	return none(left)
}

// noFiles wants none that a pattern names.
func noFiles(patterns ...string) question {
	return func(w Windows) (Answer, error) {
		var there []string
		for _, p := range patterns {
			files, err := w.Glob(p)
			if err != nil {
				return Answer{}, err
			}
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
func noPasswords(w Windows) (Answer, error) {
	var there []string
	for _, file := range answerFiles {
		data, err := w.Read(file)
		if err != nil && !absent(err) {
			return Answer{}, err
		}
		if password.Match(data) {
			there = append(there, file)
		}
	}
	return none(there)
}

// noAutoLogon wants nobody to be logged on by himself.
func noAutoLogon(w Windows) (Answer, error) {
	const key = currentVersion + `\Winlogon`
	on, err := value(w, key, "AutoAdminLogon")
	if err != nil {
		return Answer{}, err
	}
	secret, err := value(w, key, "DefaultPassword")
	if err != nil {
		return Answer{}, err
	}
	var there []string
	if on == "1" {
		there = append(there, "AutoAdminLogon=1")
	}
	if secret != "" {
		there = append(there, "a DefaultPassword")
	}
	return none(there)
}
