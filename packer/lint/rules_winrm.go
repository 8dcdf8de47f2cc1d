package lint

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// winRMSetting is a setting of WinRM's service in the ways that it is set:
// winrm set, Set-Item of WSMan:, Set-WSManInstance, and the registry.
func winRMSetting(name string) *regexp.Regexp {
	return regexp.MustCompile(name + `["']?\s*(?:=|-value\s|/t reg_dword /d\s|\s)\s*["']?\$?(true|false|1|0)`)
}

var (
	unencrypted = winRMSetting("allow_?unencrypted(?:traffic)?")
	basic       = winRMSetting(`(?:\\auth\\basic|allow_?basic|auth_basic)`)
	basicInSet  = regexp.MustCompile(`service/auth.*basic\s*=\s*["']?\$?(true|false)`)
)

// winRM: what is set for the build doesn't stay in the image.
func winRM(c *buildChecker) {
	const id = "template.winrm"
	type setting struct{ what, why, remedy string }
	last := map[setting]done{}
	value := map[setting]string{}
	plain := setting{"WinRM takes requests that aren't encrypted", "passwords and commands go over the network in the clear", `Set-Item WSMan:\localhost\Service\AllowUnencrypted $false before sysprep, and HTTPS for the build`}
	simple := setting{"WinRM takes passwords by Basic", "the administrator's password can be guessed over the network", `Set-Item WSMan:\localhost\Service\Auth\Basic $false before sysprep`}
	for _, d := range c.commands() {
		text := d.Text()
		moved := d.Name == "set-item" && strings.Contains(strings.ToLower(d.in.Text), "wsman") // cd WSMan:
		if !moved && !strings.Contains(text, "winrm") && !strings.Contains(text, "wsman") || strings.Contains(text, "client") {
			continue
		}
		for s, form := range map[setting][]*regexp.Regexp{plain: {unencrypted}, simple: {basic, basicInSet}} {
			for _, f := range form {
				if m := f.FindStringSubmatch(text); m != nil {
					last[s], value[s] = d, m[1]
				}
			}
		}
	}
	found := false
	for _, s := range []setting{plain, simple} {
		if v := value[s]; v == "true" || v == "1" {
			found = true
			severity := finding.Block
			if s == simple {
				severity = finding.Warn
			}
			c.add(id, last[s].in.Name, finding.Finding{Severity: severity, Observed: s.what, Expected: "that it is taken back before sysprep, or in the clones", Why: s.why, Remedy: s.remedy, Evidence: last[s].at()})
		}
	}
	if !found {
		c.pass(id, "WinRM", "nothing is opened that isn't closed again")
	}
}
