// Package command reads what a script's commands do: with accounts, downloads, clones of
// git, package managers and the firewall. Whether that matters is for package lint.
package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

// Act is what is done with an account.
type Act string

// The acts.
const (
	Made   Act = "made"
	Gone   Act = "gone"   // or disabled
	Joined Act = "joined" // the administrators
	Parted Act = "parted" // from them
	Barred Act = "barred" // Windows' own administrator, under its name
	Freed  Act = "freed"
)

// Event is what a command does with one account.
type Event struct {
	Act  Act
	Name string // in lower case, without this machine's name; "*" for all that come
}

// Administrator is the name of the administrator that Windows has.
const Administrator = "administrator"

// Accounts is what a command does with accounts.
func Accounts(c winscript.Command) []Event {
	named := slices.Concat(c.Param("name", 0).Texts, c.Param("sid", -1).Texts)
	switch c.Name {
	case "net", "net1":
		return ofNet(c)
	case "new-localuser":
		return events(Made, c.Param("name", 0).Texts)
	case "remove-localuser", "disable-localuser":
		if len(c.Args) == 0 {
			barred := slices.DeleteFunc(events(Gone, named), func(e Event) bool { return e.Act != Barred })
			return append(barred, Event{Gone, "*"})
		}
		return events(Gone, named)
	case "enable-localuser":
		return events(Freed, named)
	case "rename-localuser":
		return slices.DeleteFunc(events(Barred, named), func(e Event) bool { return e.Name != Administrator })
	case ".rename": // WMI's
		if of := strings.ToLower(c.Object + strings.Join(c.Input.Texts, " ")); strings.Contains(of, "useraccount") && (strings.Contains(of, Administrator) || strings.Contains(of, "-500")) {
			return []Event{{Barred, Administrator}}
		}
	case "add-localgroupmember", "remove-localgroupmember":
		act := map[bool]Act{true: Joined, false: Parted}[c.Name[0] == 'a']
		group, members := slices.Concat(c.Param("group", 0).Texts, c.Param("sid", -1).Texts), c.Param("member", 1).Texts
		if len(members) == 0 { // -Group GROUP MEMBER
			members = c.Param("", 0).Texts
		}
		if slices.ContainsFunc(group, administrators) {
			return events(act, members)
		}
	case ".create": // ADSI's
		if len(c.Args) == 2 && c.Args[0].Value.Has("User") {
			return events(Made, c.Args[1].Value.Texts)
		}
	}
	return nil
}

// ofNet is net user NAME ..., or net localgroup GROUP NAMES ....
func ofNet(c winscript.Command) []Event {
	words := Plain(c)
	does := func(s string) bool {
		return slices.ContainsFunc(c.Words(), func(w string) bool { return strings.HasPrefix(strings.ToLower(w), s) })
	}
	switch {
	case len(words) > 1 && words[0] == "user" && does("/add"):
		return events(Made, words[1:2])
	case len(words) > 1 && words[0] == "user" && (does("/del") || does("/active:no")):
		return events(Gone, words[1:2])
	case len(words) > 1 && words[0] == "user" && does("/active:yes"):
		return events(Freed, words[1:2])
	case len(words) > 2 && words[0] == "localgroup" && administrators(words[1]) && does("/add"):
		return events(Joined, words[2:])
	case len(words) > 2 && words[0] == "localgroup" && administrators(words[1]) && does("/del"):
		return events(Parted, words[2:])
	}
	return nil
}

// Plain are the arguments of net.exe that are no switches, the first of which is in
// lower case; nil for another program.
func Plain(c winscript.Command) []string {
	if c.Name != "net" && c.Name != "net1" {
		return nil
	}
	words := slices.DeleteFunc(c.Words(), func(w string) bool { return strings.HasPrefix(w, "/") })
	if len(words) > 0 {
		words[0] = strings.ToLower(words[0])
	}
	return words
}

// policy is one of secedit that bars the administrator.
var policy = regexp.MustCompile(`newadministratorname\s*=\s*"?(?:[b-z0-9_]|a[^d\n]|ad[^m\n]|adm[^i\n])|enableadminaccount\s*=\s*0`)

// PolicyBars reports whether the words of a build, in lower case, have a policy by which
// nobody can log on as Administrator.
func PolicyBars(words string) bool { return policy.MatchString(words) }

func administrators(group string) bool {
	group = strings.ToLower(group[strings.LastIndexByte(group, '\\')+1:])
	return group == "administrators" || group == "s-1-5-32-544"
}

func events(act Act, names []string) []Event {
	var out []Event
	for _, name := range names {
		name = strings.ToLower(strings.Trim(name, `"'`))
		for _, here := range []string{`.\`, `localhost\`, `%computername%\`, `$env:computername\`} {
			name = strings.TrimPrefix(name, here)
		}
		if strings.HasSuffix(name, "-500") { // its SID
			name = Administrator
		}
		if act == Gone && name == Administrator {
			out = append(out, Event{Barred, name})
		}
		out = append(out, Event{act, name})
	}
	return out
}
