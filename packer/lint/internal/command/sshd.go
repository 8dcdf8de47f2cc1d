package command

import (
	"regexp"
	"slices"
	"strings"
)

// Settings of sshd by which nobody gets in as the administrator with the key in
// administrators_authorized_keys.
var (
	noKeys    = regexp.MustCompile(`pubkeyauthentication\s+["']?no\b`)
	denied    = regexp.MustCompile(`\bdeny(?:users|groups)[ \t][^\n]*\badministrator`)
	allowed   = regexp.MustCompile(`\ballow(?:users|groups)[ \t]+([^\n]+)`)
	otherPort = regexp.MustCompile(`(?m)^["']?port[ \t]+(?:[13-9]\d*|2|2[013-9]\d*|22\d+)\b`)
	otherFile = regexp.MustCompile(`#\s*match group administrators`)
	thatFile  = regexp.MustCompile(`(?m)^["'\s]*authorizedkeysfile\s+\S*administrators_authorized_keys`)
)

// LocksOut says how the words of a script or of a file, in lower case and with its name, keep
// the administrator out of sshd, "" for not.
func LocksOut(words string) string {
	const admin = "admin"
	if !strings.Contains(words, "sshd_config") {
		return ""
	}
	switch {
	case noKeys.MatchString(words):
		return "sshd takes no keys"
	case denied.MatchString(words):
		return "sshd refuses the administrator"
	case slices.ContainsFunc(allowed.FindAllStringSubmatch(words, -1), func(m []string) bool { return !strings.ContainsAny(m[1], "$*{|") && !strings.Contains(m[1], admin) }):
		return "sshd lets others in, and not the administrator"
	case otherPort.MatchString(words):
		return "sshd listens on another port than 22"
	case otherFile.MatchString(words) && !thatFile.MatchString(words):
		return "sshd doesn't read administrators_authorized_keys"
	}
	return ""
}
