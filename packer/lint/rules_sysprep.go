package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// agents are clouds' own programs that run sysprep with what it needs.
// https://cloud.google.com/compute/docs/instances/windows/creating-windows-os-image
// https://docs.aws.amazon.com/AWSEC2/latest/WindowsGuide/ec2launch-v2-sysprep.html
var agents = []string{"gcesysprep", "gcesysprep.bat", "ec2launch", "sysprepinstance.ps1", "ec2config"}

// sysprep: the image is generalized, and starts with Windows Setup's last part.
func sysprep(c *buildChecker) {
	const id = "template.sysprep"
	found := slices.DeleteFunc(c.commands(append([]string{"sysprep"}, agents...)...), func(d commandRun) bool {
		return d.Name == "ec2launch" && !strings.Contains(d.Text(), "sysprep")
	})
	if len(found) == 0 {
		switch {
		case strings.Contains(c.words(), "sysprep.exe") && c.unknownProgram():
			c.untold(id, "sysprep", "a program that isn't known here is run, and sysprep.exe is spoken of")
		case c.Unread != "":
			c.untold(id, "sysprep", "nothing runs it, unless "+c.Unread+" does, which can't be read")
		default:
			c.add(id, "sysprep", finding.Finding{Observed: "nothing runs it", Expected: "sysprep /generalize /oobe"})
		}
		return
	}
	for _, d := range found {
		text := strings.ReplaceAll(d.Text(), " -", " /")
		f := finding.Finding{Observed: strings.TrimSpace(text), Evidence: d.at()}
		switch {
		case c.startedAfter(d) != nil:
			f.Observed, f.Expected, f.Evidence = "the machine is started again after sysprep", "an image of the machine as sysprep leaves it", c.startedAfter(d)
			f.Why, f.Remedy = "it goes through Windows Setup's last part by itself, and no clone does", "/quit or /shutdown, and nothing after it"
			c.add(id, "sysprep", f)
			return
		case slices.Contains(agents, d.Name):
		case !d.Known() && !strings.Contains(text, "/generalize"):
			c.untold(id, "sysprep", "its arguments aren't known here")
			return
		case !strings.Contains(text, "/generalize"):
			f.Expected, f.Why, f.Remedy = "/generalize", "all clones have one security identifier, and Windows' activation of one machine", "sysprep.exe /generalize /oobe /quit /quiet"
			c.add(id, "sysprep", f)
			return
		case !strings.Contains(text, "/oobe"):
			f.Expected, f.Why, f.Remedy = "/oobe", "clones don't go through Windows Setup's last part, and the answer file isn't read", "sysprep.exe /generalize /oobe /quit /quiet"
			c.add(id, "sysprep", f)
			return
		}
	}
	for _, d := range found {
		if file := c.unbrought(d); file != "" {
			c.add(id, "sysprep", finding.Finding{Severity: finding.Warn, Observed: "nothing brings " + file, Expected: "the file that /unattend names", Why: "sysprep ends with an error, and the image isn't generalized",
				Remedy: "a provisioner file with this destination", Evidence: d.at()})
			return
		}
	}
	c.pass(id, "sysprep", "is run with /generalize and /oobe")
}

// startedAfter is where a machine that was generalized is started again, nil for
// nowhere. When files run that others call isn't known.
func (c *buildChecker) startedAfter(sysprep commandRun) []string {
	if strings.Contains(strings.ReplaceAll(sysprep.Text(), " -", " /"), "/reboot") {
		return sysprep.at()
	}
	after := false
	for _, d := range c.commands() {
		after = after || d.in == sysprep.in && d.Order >= sysprep.Order
		starts := d.Name == "restart-computer" || d.Name == "windows-restart" || d.Name == "shutdown" && strings.Contains(d.Text(), " /r")
		if after && starts && d.in.Stage == AtBuild && sysprep.in.Stage == AtBuild {
			return d.at()
		}
	}
	return nil
}

// unattended is the answer file that sysprep is given, byAgents where clouds' and
// cloudbase-init's own lie.
var (
	unattended = regexp.MustCompile(`[/-]unattend:"?([^"\s]+)`)
	byAgents   = regexp.MustCompile(`[$%{]|program files|\\amazon\\|\\(sysprep|panther)\\`)
)

// unbrought is the answer file of a call that nothing in the template brings, "" for
// none.
func (c *buildChecker) unbrought(sysprep commandRun) string {
	m := unattended.FindStringSubmatch(sysprep.Text())
	if m == nil || byAgents.MatchString(sysprep.Text()) || c.Unread != "" || c.base != "" {
		return ""
	}
	last := func(path string) string { return strings.ToLower(path[strings.LastIndexAny(path, `\/:`)+1:]) }
	base := last(m[1])
	named := func(f File) bool {
		places := slices.DeleteFunc(slices.Clone(f.paths), func(p string) bool { return !strings.Contains(last(p), ".") }) // folders
		if len(places) == 0 {
			places = []string{f.Name}
		}
		return slices.ContainsFunc(places, func(p string) bool { return strings.HasPrefix(last(p), base) }) // .pkrtpl is behind it
	}
	if slices.ContainsFunc(c.Answers, named) || slices.ContainsFunc(c.Scripts, func(s Script) bool { return slices.Contains(s.names(), base) }) ||
		slices.ContainsFunc(c.commands(writers...), func(d commandRun) bool { return strings.Contains(d.Text(), base) }) {
		return ""
	}
	return m[1]
}

// unknownProgram reports whether something is started whose name isn't known.
func (c *buildChecker) unknownProgram() bool {
	return slices.ContainsFunc(c.commands("start-process", "new-scheduledtaskaction", "invoke-expression"), func(d commandRun) bool { return !d.Known() }) ||
		slices.ContainsFunc(c.commands(), func(d commandRun) bool { return strings.HasPrefix(d.Name, "$") })
}

// sysprepAtShutdown: the HCL's shutdown_command runs it.
func sysprepAtShutdown(c *checker) {
	for _, s := range c.sources {
		command, _ := c.text(s.Body, "shutdown_command")
		if strings.Contains(strings.ToLower(command), "sysprep") {
			c.add("template.sysprep", s.name(), finding.Finding{Severity: finding.Warn, Observed: "sysprep is the shutdown_command", Expected: "a step of its own, and a plain shutdown after it",
				Why: "its exit code is never seen, and on some versions the dropped connection fails the build", Evidence: s.at("shutdown_command")})
		}
	}
}
