package lint

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint/internal/command"
	"github.com/winbake/winbake/packer/lint/internal/secret"
	"github.com/winbake/winbake/packer/lint/internal/table"
)

// localAccount is one that an answer file makes.
var localAccount = regexp.MustCompile(`(?s)<LocalAccount[\s>].*?<Name>\s*([^<]*?)\s*</Name>.*?</LocalAccount>`)

// leftovers: accounts of the build don't stay in the image, nor does anybody among
// its administrators.
func leftovers(c *buildChecker) {
	const id = "template.left"
	made, joined, gone := map[string]commandRun{}, map[string]commandRun{}, map[string]bool{command.Administrator: true}
	for _, f := range c.Answers {
		for _, m := range localAccount.FindAllSubmatchIndex(f.Data, -1) {
			made[strings.ToLower(string(f.Data[m[2]:m[3]]))] = commandRun{winscript.Command{Line: lineAt(f.Data, m[2])}, &scriptRun{Script: Script{Name: f.Name}}}
		}
	}
	for _, d := range c.commands() {
		for _, e := range command.Accounts(d.Command) {
			switch inClone := d.in.stage == InClone; {
			case e.Act == command.Made && !inClone:
				made[e.Name] = d
			case e.Act == command.Gone:
				gone[e.Name] = true
			case e.Act == command.Joined && !inClone && !strings.ContainsAny(e.Name, "$%{"):
				joined[e.Name] = d
			case e.Act == command.Parted:
				delete(joined, e.Name)
			}
		}
	}
	stays := func(all map[string]commandRun, observed string) {
		for _, name := range sortedKeys(all) {
			if !gone[name] && !gone["*"] {
				c.add(id, name, finding.Finding{Observed: observed, Evidence: all[name].at()})
				gone[name] = true
			}
		}
	}
	before := len(c.findings)
	stays(made, "an account is made, and stays")
	stays(joined, "it is made an administrator, and stays one")
	for _, f := range c.Answers {
		if m := skipRearm.FindIndex(f.Data); m != nil {
			c.left(table.SettingOf("SkipRearm"), "", at(f.Name, lineAt(f.Data, m[0])))
			break
		}
	}
	if len(c.findings) == before {
		c.pass(id, "the build's own", "no account of it stays")
	}
}

// settings: what is set for the build is taken back.
func settings(c *buildChecker) {
	last := map[int]commandRun{}
	for _, d := range c.commands() {
		text := d.Text()
		if d.Name == "set-item" && strings.Contains(strings.ToLower(d.in.Text), "wsman") { // cd WSMan:
			text += " wsman"
		}
		for i, s := range table.Settings() {
			if weakens, told := s.Tells(text); weakens && !(s.Clones && d.in.stage == InClone) {
				last[i] = d
			} else if told {
				delete(last, i)
			}
		}
	}
	before := len(c.findings)
	for i, s := range table.Settings() {
		if d, weak := last[i]; weak {
			c.left(s, d.in.Name, d.at())
		}
	}
	if len(c.findings) == before {
		c.pass("template.winrm", "WinRM", "nothing is opened that isn't closed again")
	}
}

func (c *buildChecker) left(s table.Setting, script string, evidence []string) {
	f := finding.Finding{Observed: s.What, Expected: s.Expected, Why: s.Why, Remedy: s.Remedy, Evidence: evidence}
	if s.Mild {
		f.Severity = finding.Warn
	}
	c.add(s.Rule, cmp.Or(s.Object, script), f)
}

// productKey is one in an answer file that nothing fills in.
var productKey = regexp.MustCompile(`(?s)<ProductKey[^>]*>\s*(?:<Key>)?\s*(\w{5}(?:-\w{5}){4})\s*<`)

// passwords: none is written into a script of the template's, nor a product key into an
// answer file.
func passwords(c *buildChecker) {
	for _, f := range c.Answers {
		if m := productKey.FindSubmatchIndex(f.Data); m != nil && c.given != nil && secret.Reveals("product_key", string(f.Data[m[2]:m[3]])) && !c.given(string(f.Data[m[2]:m[3]])) {
			c.add("template.secret", f.Name, finding.Finding{Observed: "a product key is written into the file", Expected: "a sensitive variable", Evidence: at(f.Name, lineAt(f.Data, m[2])),
				Why: "anyone who has the template has the key", Remedy: "fill it in with templatefile(), from a sensitive variable"})
		}
	}
	for _, r := range c.runs {
		given := slices.Collect(maps.Values(r.Env))
		for _, name := range sortedKeys(r.env) {
			value := r.env[name]
			if _, inherited := r.Env[name]; inherited || !secret.IsName(name) || c.given == nil || value == "" || strings.ContainsAny(value, "$%{}") || slices.Contains(given, value) || !secret.Reveals(name, value) || c.given(value) {
				continue
			}
			line := lineAt([]byte(r.Text), max(0, strings.Index(strings.ToLower(r.Text), name)))
			c.add("template.secret", r.Name, finding.Finding{Observed: strings.ToUpper(name) + " is written into the script", Expected: "a sensitive variable, given in env", Evidence: at(r.Name, line)})
		}
	}
	for _, d := range c.commands() {
		value := secret.Told(d.Command)
		// Another argument's variables don't matter where a word is the password.
		isKnown := d.Known() || d.Name != "convertto-securestring" && !strings.ContainsAny(value, "$%!()[]{} ")
		if c.given != nil && isKnown && value != "" && !strings.ContainsAny(value[:1], "$%*") && secret.Reveals("password", value) && !c.given(value) {
			c.add("template.secret", d.in.Name, finding.Finding{Observed: "a password is written into the script", Expected: "a sensitive variable, given in env", Evidence: d.at()})
		}
	}
}

var skipRearm = regexp.MustCompile(`(?is)<SkipRearm>\s*(1|true)\s*</SkipRearm>`)

// ignoredFailures: updates that fail are seen by somebody.
func ignoredFailures(c *buildChecker) {
	const id = "template.updates"
	found := c.updating()
	if c.looksAfterUpdates() {
		found = nil
	}
	if found = append(found, c.unseenFeature()...); len(found) == 0 {
		return
	}
	for _, d := range found {
		action := strings.ToLower(strings.Join(append(d.Param("erroraction", -1).Texts, d.Param("ea", -1).Texts...), ""))
		preference := d.in.does.Assigned["erroractionpreference"]
		quiet := slices.ContainsFunc(preference.Texts, func(t string) bool { t = strings.ToLower(t); return t == "silentlycontinue" || t == "ignore" })
		switch {
		case d.Name == "dism":
			c.add(id, d.in.Name, finding.Finding{Observed: "what dism ends with isn't read, and the script ends with 0", Remedy: "if ($LASTEXITCODE -notin 0, 3010) { exit $LASTEXITCODE }", Evidence: d.at()})
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

// reports are ways in which a script tells of a failure behind a catch.
var reports = regexp.MustCompile(`(?i)\bthrow\b|\bexit +[^0\s]`)

// unseenFeature is what installs Containers, where nothing looks whether it is there.
func (c *buildChecker) unseenFeature() []commandRun {
	looks := func(d commandRun) bool { return strings.Contains(d.Text(), "containers") }
	if slices.ContainsFunc(c.commands("get-windowsfeature", "get-windowsoptionalfeature"), looks) {
		return nil
	}
	return slices.DeleteFunc(c.commands("install-windowsfeature", "enable-windowsoptionalfeature", "dism"), func(d commandRun) bool {
		if d.Name == "dism" {
			return !command.Unread(d.Command, d.in.bare)
		}
		return !looks(d) || d.Compared || d.Excused && reports.MatchString(d.in.bare)
	})
}

// inTask: the script makes a task and doesn't ask how it ended.
func (d commandRun) inTask() bool {
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
