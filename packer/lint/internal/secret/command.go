package secret

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

// plain are the arguments of net.exe's subcommand that are no switches; nil where it
// is another one.
func plain(c winscript.Command, subcommand string) []string {
	w := c.Words()
	if c.Name != "net" && c.Name != "net1" || len(w) < 2 || !strings.EqualFold(w[0], subcommand) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w[1:]), func(w string) bool { return strings.HasPrefix(w, "/") })
}

// Account is the one that net user is about, and all that it's told of it.
func Account(c winscript.Command) (name, words string) {
	if of := plain(c, "user"); len(of) > 0 {
		return strings.ToLower(of[0]), c.Text()
	}
	return "", ""
}

// said is the password that Windows logs somebody on with by itself, or that a
// program is given behind a switch.
var said = regexp.MustCompile(`^(?:(?:reg|set-itemproperty|new-itemproperty) .*defaultpassword .*(?:-value|/d) |\.setpassword |(?:schtasks|netdom|cmdkey) .*/(?:rp |password[do]:|p[do]:|pass:))(\S+)`)

// autologon is Sysinternals' program: USER DOMAIN PASSWORD
// (https://learn.microsoft.com/sysinternals/downloads/autologon).
var autologon = regexp.MustCompile(`^autologon(64a?)?$`)

// Told is the password that a command is told, "" for none.
func Told(c winscript.Command) string {
	switch user, use := plain(c, "user"), plain(c, "use"); {
	case len(user) > 1:
		return user[1]
	case len(use) > 1: // a device, what it stands for, and the password of that
		if i := slices.IndexFunc(use, func(w string) bool { return strings.HasPrefix(w, `\\`) }); i >= 0 && i+1 < len(use) {
			return use[i+1]
		}
	case c.Name == "convertto-securestring" && c.Flag("asplaintext"):
		return strings.Join(c.Param("string", 0).Texts, "")
	case autologon.MatchString(c.Name):
		if w := slices.DeleteFunc(c.Words(), func(w string) bool { return strings.HasPrefix(w, "/") || strings.HasPrefix(w, "-") }); len(w) > 2 {
			return w[2]
		}
	}
	if m := said.FindStringSubmatch(c.Text()); m != nil {
		return m[1]
	}
	return ""
}
