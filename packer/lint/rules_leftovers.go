package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint/internal/secret"
)

// localAccount is one that an answer file makes.
var localAccount = regexp.MustCompile(`(?s)<LocalAccount[\s>].*?<Name>\s*([^<]*?)\s*</Name>.*?</LocalAccount>`)

// leftovers: accounts of the build, and Windows logging somebody on by itself,
// don't stay in the image.
func leftovers(c *buildChecker) {
	const id = "template.left"
	made, gone := map[string]done{}, map[string]bool{}
	var logon []done
	var open []string // where the firewall is turned off for good
	for _, f := range c.Answers {
		for _, m := range localAccount.FindAllSubmatchIndex(f.Data, -1) {
			made[strings.ToLower(string(f.Data[m[2]:m[3]]))] = done{winscript.Command{Line: lineAt(f.Data, m[2])}, &ran{Script: Script{Name: f.Name}}}
		}
	}
	for _, d := range c.commands() {
		text := d.Text()
		account, told := secret.Account(d.Command)
		if m := firewallState.FindStringSubmatch(text); m != nil {
			if open = nil; m[1] != "" {
				open = d.at()
			}
		}
		switch name := strings.ToLower(strings.Join(d.Param("name", 0).Texts, "")); {
		case d.Name == "new-localuser" && d.in.stages[0] != InClone:
			made[name] = d
		case (d.Name == "remove-localuser" || d.Name == "disable-localuser") && len(d.Args) == 0: // whom is what is piped
			gone["$"+name] = true
		case d.Name == "remove-localuser" || d.Name == "disable-localuser":
			gone[name] = true
		case d.Name == ".create" && len(d.Args) == 2 && d.Args[0].Value.Has("User"): // ADSI's
			made[strings.ToLower(strings.Join(d.Args[1].Value.Texts, ""))] = d
		case strings.Contains(told, "/add") && d.in.stages[0] != InClone:
			made[account] = d
		case strings.Contains(told, "/del") || strings.Contains(told, "/active:no"):
			gone[account] = true
		case strings.Contains(text, "autoadminlogon") && (d.Name == "set-itemproperty" || d.Name == "new-itemproperty" || d.Name == "reg"):
			logon = append(logon, d)
		}
	}
	before := len(c.findings)
	for _, name := range sortedKeys(made) {
		if !gone[name] && !slices.ContainsFunc(sortedKeys(gone), func(n string) bool { return strings.HasPrefix(n, "$") }) {
			c.add(id, name, finding.Finding{Observed: "an account is made, and stays", Evidence: made[name].at()})
		}
	}
	if len(logon) > 0 {
		d := logon[len(logon)-1]
		if v := strings.Join(append(d.Param("value", -1).Texts, d.Words()...), " "); regexp.MustCompile(`(^|\s)["']?1["']?(\s|$)`).MatchString(v) {
			c.add(id, "AutoAdminLogon", finding.Finding{Observed: "Windows logs somebody on by itself", Why: "whoever can open a clone's console is its administrator",
				Remedy: "Set-ItemProperty ... -Name AutoAdminLogon -Value 0 before sysprep", Evidence: d.at()})
		}
	}
	if open != nil {
		c.add(id, "firewall", finding.Finding{Observed: "the firewall is off", Why: "whatever listens on a node is reached from everywhere", Remedy: "Set-NetFirewallProfile -All -Enabled True before sysprep", Evidence: open})
	}
	if d, found := c.skipsRearm(); found {
		c.add(id, "SkipRearm", finding.Finding{Observed: "SkipRearm = 1", Expected: "0", Why: "clones keep the build's activation, and Windows takes them for one machine", Remedy: "leave SkipRearm out", Evidence: d})
	}
	if len(c.findings) == before {
		c.pass(id, "the build's own", "no account and no logon of it stays")
	}
}

// firewallState is a switch of the firewall, with what turns it off in it.
var firewallState = regexp.MustCompile(`^(?:netsh .*(?:profiles? state|opmode)|set-netfirewallprofile .*-enabled) \$?(?:(off|disable|false|0)|on|enable|true|1)\b`)

// passwords: none is written into a script of the template's.
func passwords(c *buildChecker) {
	for _, d := range c.commands() {
		value := secret.Told(d.Command)
		// cmd has its variables in the text: another argument's don't matter.
		isKnown := d.Known() || d.in.Language == Cmd && !strings.ContainsAny(value, "$%!()[]{} ")
		if c.given != nil && isKnown && value != "" && !strings.ContainsAny(value[:1], "$%*") && secret.Reveals("password", value) && !c.given(value) {
			c.add("template.secret", d.in.Name, finding.Finding{Observed: "a password is written into the script", Expected: "a sensitive variable, given in env", Evidence: d.at()})
		}
	}
}

var skipRearm = regexp.MustCompile(`(?is)<SkipRearm>\s*(1|true)\s*</SkipRearm>`)

func (c *buildChecker) skipsRearm() ([]string, bool) {
	for _, f := range c.Answers {
		if m := skipRearm.FindIndex(f.Data); m != nil {
			return at(f.Name, lineAt(f.Data, m[0])), true
		}
	}
	for _, d := range c.commands("set-itemproperty", "new-itemproperty", "reg") {
		if text := d.Text(); strings.Contains(text, "skiprearm") && strings.Contains(text, " 1") {
			return d.at(), true
		}
	}
	return nil, false
}

// ignoredFailures: updates that fail are seen by somebody.
func ignoredFailures(c *buildChecker) {
	const id = "template.updates"
	found := c.updating()
	if len(found) == 0 || c.looksAfterUpdates() {
		return
	}
	for _, d := range found {
		action := strings.ToLower(strings.Join(append(d.Param("erroraction", -1).Texts, d.Param("ea", -1).Texts...), ""))
		preference := d.in.does.Assigned["erroractionpreference"]
		quiet := slices.ContainsFunc(preference.Texts, func(t string) bool { t = strings.ToLower(t); return t == "silentlycontinue" || t == "ignore" })
		switch {
		case slices.Contains([]string{"silentlycontinue", "ignore", "0", "4"}, action):
			c.add(id, d.in.Name, finding.Finding{Observed: d.Name + " -ErrorAction " + action, Evidence: d.at()})
		case quiet:
			c.add(id, d.in.Name, finding.Finding{Observed: "$ErrorActionPreference passes over errors", Evidence: d.at()})
		case d.Name == ".install" && d.Into != "" && !d.Compared:
			c.add(id, d.in.Name, finding.Finding{Observed: "what Install() returns isn't compared with anything", Remedy: "throw where its ResultCode isn't 2", Evidence: d.at()})
		case d.Name == "wusa" && d.in.Language == PowerShell && !strings.Contains(strings.ToLower(d.in.Text), "exitcode"):
			c.add(id, d.in.Name, finding.Finding{Observed: "what wusa ends with isn't read", Remedy: "Start-Process -Wait -PassThru, and throw where ExitCode isn't 0 or 3010", Evidence: d.at()})
		case d.inTask():
			c.add(id, d.in.Name, finding.Finding{Observed: d.Name + " runs in a task, whose result isn't read", Remedy: "read Get-ScheduledTaskInfo's LastTaskResult, and throw where it isn't 0", Evidence: d.at()})
		case d.Excused:
			c.add(id, d.in.Name, finding.Finding{Observed: "what " + d.Name + " fails with is caught, and the script goes on", Evidence: d.at()})
		default:
			continue
		}
		return
	}
	c.pass(id, "updates", "a failure of theirs ends the build")
}

// inTask: the script makes a task and doesn't ask how it ended.
func (d done) inTask() bool {
	made := slices.ContainsFunc(d.in.does.Commands, func(c winscript.Command) bool {
		return c.Name == ".registertaskdefinition" || c.Name == "register-scheduledtask"
	})
	return made && !strings.Contains(strings.ToLower(d.in.Text), "lasttaskresult")
}

// looksAfterUpdates: a script that installs none searches for those that are
// missing.
func (c *buildChecker) looksAfterUpdates() bool {
	for _, d := range c.commands(".search", "get-windowsupdate") {
		installs := slices.ContainsFunc(d.in.does.Commands, func(c winscript.Command) bool { return c.Name == ".install" || c.Flag("install") })
		if !installs && strings.Contains(d.in.Text, "throw") {
			return true
		}
	}
	return false
}
