package imagecheck

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

const (
	sshFolder  = `C:\ProgramData\ssh`
	adminKeys  = sshFolder + `\administrators_authorized_keys`
	sshdConfig = sshFolder + `\sshd_config`
)

// notUTF16 wants a text that sshd can read. A file that isn't there is another row's.
func notUTF16(path string) question {
	return func(w *asked) Answer {
		data, there := w.read(path)
		if !there {
			return right("the file isn't there")
		}
		if bytes.IndexByte(data, 0) >= 0 { // each letter of ASCII has one in UTF-16
			return wrong("UTF-16")
		}
		return right("no UTF-16")
	}
}

// keyLine is a line of authorized_keys that has a key, perhaps after options.
var keyLine = regexp.MustCompile(`(?m)^[^#\r\n]*\b(ssh-(rsa|ed25519)|ecdsa-sha2-nistp\d+|sk-[a-z0-9-]+@openssh\.com) [A-Za-z0-9+/=]{16,}`)

// hasKey wants a public key in the administrators' file.
func hasKey(w *asked) Answer {
	data, there := w.read(adminKeys)
	if !there {
		return wrong("the file isn't there")
	}
	if n := len(keyLine.FindAll(data, -1)); n > 0 {
		return right("keys: %d", n)
	}
	return wrong("no line of it is a public key")
}

// entry is one entry of an access list in SDDL: type, flags, rights, two objects, who.
var entry = regexp.MustCompile(`\((\w+);[^;]*;[^;]*;[^;]*;[^;]*;([^;)]+)[^)]*\)`)

// forAdministrators wants a file that Administrators (BA) and SYSTEM (SY) have, and
// nobody else.
func forAdministrators(path string) question {
	return func(w *asked) Answer {
		sddl, err := w.Security(path)
		if !w.there(err) {
			return right("the file isn't there")
		}
		var allowed []string
		for _, e := range entry.FindAllStringSubmatch(sddl, -1) {
			if e[1] == "A" {
				allowed = append(allowed, e[2])
			}
		}
		slices.Sort(allowed)
		return Answer{Observed: sddl, Wrong: !slices.Equal(slices.Compact(allowed), []string{"BA", "SY"})}
	}
}

// readsAdminKeys wants an sshd_config that lets administrators in by their file. The
// first value of a setting counts.
func readsAdminKeys(w *asked) Answer {
	data, there := w.read(sshdConfig)
	if !there {
		return wrong("the file isn't there")
	}
	group, reads := "", false
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(strings.ToLower(line))
		switch {
		case len(words) < 2:
		case words[0] == "match":
			group = strings.Join(words[1:], " ")
		case words[0] == "pubkeyauthentication" && words[1] == "no":
			return wrong("%s", strings.TrimSpace(line))
		case words[0] == "authorizedkeysfile" && (group == "" || group == "group administrators"):
			reads = reads || strings.HasSuffix(words[1], "administrators_authorized_keys")
		}
	}
	if !reads {
		return wrong("no AuthorizedKeysFile of administrators names administrators_authorized_keys")
	}
	return right("administrators log on with their keys")
}

// hostKeys wants none, or a first boot that makes new ones.
func hostKeys(w *asked) Answer {
	keys, err := w.Glob(sshFolder + `\ssh_host_*_key`)
	w.answered(err)
	if len(keys) == 0 {
		return right("none")
	}
	for _, script := range []string{`C:\Windows\Setup\Scripts\SetupComplete.cmd`, `C:\ProgramData\winbake\first-boot.ps1`} {
		if text, _ := w.read(script); bytes.Contains(text, []byte("ssh_host_")) {
			return right("removed at the first boot by %s", script)
		}
	}
	return wrong("%s", strings.Join(keys, ", "))
}
