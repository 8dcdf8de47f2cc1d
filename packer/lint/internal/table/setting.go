package table

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Setting is one of Windows' that a command may change.
type Setting struct {
	Rule   string // of package lint
	Object string // "" for the script's own name
	Mild   bool   // the rule's finding is one to be warned of
	Clones bool   // what a clone sets itself is right

	What, Expected, Why, Remedy string

	WinRM []string `yaml:"winRM"` // names of a setting of its service
	Weak  string   // the number that weakens, where Object is a value of the registry
	Forms []string // other ways to set it

	ways []*regexp.Regexp
}

// Settings are all of them.
var Settings = sync.OnceValue(func() []Setting {
	all := read[Setting]("settings.yaml")()
	for i, s := range all {
		forms := s.Forms
		if s.Weak != "" {
			forms = registry(strings.ToLower(s.Object), s.Weak)
		} else if s.WinRM != nil {
			forms = winRM(s.WinRM)
		}
		for _, f := range forms {
			all[i].ways = append(all[i].ways, regexp.MustCompile(f))
		}
	}
	return all
})

// Tells reports whether a command, by its text in lower case, changes a setting, and
// whether it weakens the machine.
func (s Setting) Tells(text string) (weakens, told bool) {
	if s.WinRM != nil && (!strings.Contains(text, "winrm") && !strings.Contains(text, "wsman") || strings.Contains(text, "client")) {
		return false, false
	}
	for _, f := range s.ways {
		if m := f.FindStringSubmatch(text); m != nil {
			return len(m) > 1 && m[1] != "", true
		}
	}
	return false, false
}

// SettingOf is the setting of an object.
func SettingOf(object string) Setting {
	all := Settings()
	return all[slices.IndexFunc(all, func(s Setting) bool { return s.Object == object })]
}

// registry are the ways to give a value of the registry this number, another one, or
// none.
func registry(name, weak string) []string {
	const set = `^(?:set-itemproperty|new-itemproperty|reg add)\b.*`
	return []string{`^(?:remove-itemproperty|reg delete)\b.*\b` + name + `\b`,
		set + `\b` + name + `\b.*?\s(?:-value|/d)\s+["']?(?:0x0*)?(?:(` + weak + `)\b|\S)`,
		set + `\s-value\s+["']?(?:(` + weak + `)\b|\S+).*-name\s+["']?` + name + `\b`,
		`^(?:set-itemproperty|\.setvalue)\b.*\b` + name + `["']?\s+["']?(?:(` + weak + `)\b|\d)`}
}

// winRM are the ways to set one of its service's: winrm set, Set-Item of WSMan:,
// Set-WSManInstance, and the registry. A service that doesn't start takes nothing.
func winRM(names []string) []string {
	out := []string{`^(?:set-service|sc)\b.*\bdisabled\b`}
	for _, name := range names {
		out = append(out, name+`["']?\s*(?:=|-value\s|/t reg_dword /d\s|\s)\s*["']?\$?(?:(true|1)|false|0)`)
	}
	return out
}
