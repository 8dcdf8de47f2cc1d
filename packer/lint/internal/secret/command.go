package secret

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint/internal/account"
)

// said is the password that Windows logs somebody on with by itself, or that a
// program is given behind a switch.
var said = regexp.MustCompile(`^(?:(?:reg|set-itemproperty|new-itemproperty) .*defaultpassword .*(?:-value|/d) |\.setpassword |(?:schtasks|netdom|cmdkey) .*/(?:rp |password[do]:|p[do]:|pass:)` +
	`|sc .*\bpassword= ?|register-scheduledtask .*-password |(?:curl|invoke-webrequest) .*-(?:u|-user) [^\s:]+:)(\S+)`)

// inURL is a password in front of a host's name.
var inURL = regexp.MustCompile(`\bhttps?://[^/\s:@$%{]+:([^/\s@$%{}]+)@`)

// autologon is Sysinternals' program: USER DOMAIN PASSWORD
// (https://learn.microsoft.com/sysinternals/downloads/autologon).
var autologon = regexp.MustCompile(`^autologon(64a?)?$`)

// Told is the password that a command is told, "" for none.
func Told(c winscript.Command) string {
	words := c.Words()
	switch net := account.Plain(c); {
	case len(net) > 2 && net[0] == "user":
		return net[2]
	case len(net) > 2 && net[0] == "use": // a device, what it stands for, and the password of that
		if i := slices.IndexFunc(net, func(w string) bool { return strings.HasPrefix(w, `\\`) }); i >= 0 && i+1 < len(net) {
			return net[i+1]
		}
	case c.Name == "convertto-securestring" && c.Flag("asplaintext"):
		return strings.Join(c.Param("string", 0).Texts, "")
	case (c.Name == "setx" || c.Name == ".setenvironmentvariable") && len(words) > 1 && IsName(words[0]):
		return words[1]
	case autologon.MatchString(c.Name):
		if w := slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "/") || strings.HasPrefix(w, "-") }); len(w) > 2 {
			return w[2]
		}
	}
	for _, form := range []*regexp.Regexp{said, inURL} {
		if m := form.FindStringSubmatch(c.Text()); m != nil {
			return m[1]
		}
	}
	return ""
}
