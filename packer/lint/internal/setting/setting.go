// Package setting lists what scripts switch on or off for a build, and what of that
// weakens the machines that are made of the image. Whether it is taken back in time is
// for package lint.
package setting

import (
	"regexp"
	"slices"
)

// Setting is one of Windows' that a command may change.
type Setting struct {
	Rule   string // of package lint
	Object string // "" for the script's own name
	Mild   bool   // the rule's finding is one to be warned of

	What, Expected, Why, Remedy string

	about, but *regexp.Regexp   // commands that are looked at, and those that aren't
	forms      []*regexp.Regexp // ways to set it; the first group is there for what weakens
}

// Tells reports whether a command, by its text in lower case, changes a setting, and
// whether it weakens the machine.
func (s Setting) Tells(text string) (weakens, told bool) {
	if s.about != nil && (!s.about.MatchString(text) || s.but.MatchString(text)) {
		return false, false
	}
	for _, f := range s.forms {
		if m := f.FindStringSubmatch(text); m != nil {
			return len(m) > 1 && m[1] != "", true
		}
	}
	return false, false
}

// Named is the setting of an object.
func Named(object string) Setting {
	return All[slices.IndexFunc(All, func(s Setting) bool { return s.Object == object })]
}

func ways(forms ...string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, f := range forms {
		out = append(out, regexp.MustCompile(f))
	}
	return out
}

// registry are the ways to give a value of the registry this number, another one, or
// none.
func registry(name, weak string) []*regexp.Regexp {
	const set = `^(?:set-itemproperty|new-itemproperty|reg add)\b.*`
	return ways(`^(?:remove-itemproperty|reg delete)\b.*\b`+name+`\b`,
		set+`\b`+name+`\b.*?\s(?:-value|/d)\s+["']?(?:0x0*)?(?:(`+weak+`)\b|\S)`,
		set+`\s-value\s+["']?(?:(`+weak+`)\b|\S+).*-name\s+["']?`+name+`\b`,
		`^(?:set-itemproperty|\.setvalue)\b.*\b`+name+`["']?\s+["']?(?:(`+weak+`)\b|\d)`)
}

// winRM are the ways to set one of its service's: winrm set, Set-Item of WSMan:,
// Set-WSManInstance, and the registry. A service that doesn't start takes nothing.
func winRM(names ...string) []*regexp.Regexp {
	out := ways(`^(?:set-service|sc)\b.*\bdisabled\b`)
	for _, name := range names {
		out = append(out, ways(name+`["']?\s*(?:=|-value\s|/t reg_dword /d\s|\s)\s*["']?\$?(?:(true|1)|false|0)`)...)
	}
	return out
}

const left = "template.left"

// All are the settings.
var All = []Setting{
	{Rule: "template.winrm", What: "WinRM takes requests that aren't encrypted", Expected: "that it is taken back before sysprep, or in the clones",
		Why: "passwords and commands go over the network in the clear", Remedy: `Set-Item WSMan:\localhost\Service\AllowUnencrypted $false before sysprep, and HTTPS for the build`,
		about: regexp.MustCompile(`winrm|wsman`), but: regexp.MustCompile(`client`), forms: winRM("allow_?unencrypted(?:traffic)?")},
	{Rule: "template.winrm", Mild: true, What: "WinRM takes passwords by Basic", Expected: "that it is taken back before sysprep, or in the clones",
		Why: "the administrator's password can be guessed over the network", Remedy: `Set-Item WSMan:\localhost\Service\Auth\Basic $false before sysprep`,
		about: regexp.MustCompile(`winrm|wsman`), but: regexp.MustCompile(`client`), forms: winRM(`(?:\\auth\\basic|allow_?basic|auth_basic)`, `service/auth.*basic`)},
	{Rule: left, Object: "AutoAdminLogon", What: "Windows logs somebody on by itself", Why: "whoever can open a clone's console is its administrator",
		Remedy: "Set-ItemProperty ... -Name AutoAdminLogon -Value 0 before sysprep", forms: registry("autoadminlogon", "1")},
	{Rule: left, Object: "SkipRearm", What: "SkipRearm = 1", Expected: "0", Why: "clones keep the build's activation, and Windows takes them for one machine",
		Remedy: "leave SkipRearm out", forms: registry("skiprearm", "1")},
	{Rule: left, Object: "firewall", What: "the firewall is off", Why: "whatever listens on a node is reached from everywhere", Remedy: "Set-NetFirewallProfile -All -Enabled True before sysprep",
		forms: ways(`^(?:netsh .*(?:profiles? state|opmode)|set-netfirewallprofile .*-enabled)\s+\$?(?:(off|disable|false|0)|on|enable|true|1)\b`,
			`^(?:set-service|sc config)\b.*\bmpssvc\b.*(?:(disabled)|auto|manual|demand)`)},
	{Rule: left, Object: "firewall", What: "the firewall lets in what no rule is about", Why: "whatever listens on a node is reached from everywhere", Remedy: "Set-NetFirewallProfile -All -DefaultInboundAction Block before sysprep",
		forms: ways(`^netsh .*firewallpolicy (?:(allowinbound)|blockinbound)`, `^set-netfirewallprofile .*-defaultinboundaction (?:(allow)|block|notconfigured)`)},
	{Rule: left, Object: "EnableLUA", What: "user account control is off", Expected: "on", Why: "each program that an administrator starts may do everything",
		Remedy: "leave EnableLUA at 1, or set it back before sysprep", forms: registry("enablelua", "0")},
	{Rule: left, Object: "LimitBlankPasswordUse", What: "accounts without a password can log on over the network", Expected: "at the console alone", Why: "whoever knows an account's name is in",
		Remedy: "leave LimitBlankPasswordUse at 1", forms: registry("limitblankpassworduse", "0")},
	{Rule: left, Object: "testsigning", What: "Windows loads drivers that nobody signed", Expected: "signed ones alone", Why: "secure boot refuses it, and elsewhere any driver gets into the kernel",
		Remedy: "bcdedit /set testsigning off", forms: ways(`^bcdedit .*/set .*\b(?:testsigning|nointegritychecks) (?:(on|yes|true|1)|\w)`, `^bcdedit .*/deletevalue .*\b(?:testsigning|nointegritychecks)`)},
	{Rule: left, Object: "SMB1", What: "SMB 1 is on", Expected: "off, as in Windows Server 2022", Why: "it has no encryption and no protection against changes on the way",
		Remedy: "Disable-WindowsOptionalFeature -Online -FeatureName SMB1Protocol", forms: ways(
			`^(?:(enable-windowsoptionalfeature|install-windowsfeature)|(?:disable-windowsoptional|uninstall-windows|remove-windows)feature)\b.*\b(?:smb1protocol|fs-smb1)`,
			`^dism .*/(?:(enable)|disable)-feature.*\bsmb1protocol`, `^set-smbserverconfiguration .*-enablesmb1protocol \$?(?:(true|1)|false|0)`)},
	{Rule: left, Object: "guest", What: "the guest can log on", Expected: "disabled, as in Windows", Why: "it has no password",
		Remedy: "net user guest /active:no", forms: ways(`^net1? user "?guest"? .*/active:(?:(yes)|no)`, `^(?:(enable)|disable)-localuser .*\bguest\b`)},
}
