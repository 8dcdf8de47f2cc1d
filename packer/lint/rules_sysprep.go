package lint

import (
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
	found := slices.DeleteFunc(c.commands(append([]string{"sysprep"}, agents...)...), func(d done) bool {
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
	c.pass(id, "sysprep", "is run with /generalize and /oobe")
}

// unknownProgram reports whether something is started whose name isn't known.
func (c *buildChecker) unknownProgram() bool {
	return slices.ContainsFunc(c.commands("start-process", "new-scheduledtaskaction", "invoke-expression"), func(d done) bool { return !d.Known() }) ||
		slices.ContainsFunc(c.commands(), func(d done) bool { return strings.HasPrefix(d.Name, "$") })
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
