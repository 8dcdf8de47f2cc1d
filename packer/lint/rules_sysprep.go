package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/command"
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
		text := slashed(d)
		f := finding.Finding{Observed: strings.TrimSpace(text), Evidence: d.at()}
		started, installed := c.next(d, starts), c.next(d, installs)
		if strings.Contains(text, "/reboot") {
			started = &d
		}
		switch {
		case started != nil:
			f.Observed, f.Expected, f.Evidence = "the machine is started again after sysprep", "an image of the machine as sysprep leaves it", started.at()
			f.Why, f.Remedy = "it goes through Windows Setup's last part by itself, and no clone does", "/quit or /shutdown, and nothing after it"
		case installed != nil:
			f.Severity, f.Observed, f.Expected, f.Evidence = finding.Warn, installed.Name+" runs after sysprep", "sysprep as the last step", installed.at()
			f.Why, f.Remedy = "what is installed into a generalized Windows isn't generalized, and Windows Setup's last part may stop at it in clones", "install everything before sysprep"
		case c.shutTwice(d):
			f.Severity, f.Expected = finding.Warn, "/quit"
			f.Why, f.Remedy = "the machine goes down during the step, and the build fails there or at its shutdown_command", "sysprep.exe /generalize /oobe /quit /quiet, and the shutdown_command after it"
		case slices.Contains(agents, d.Name):
		case !d.Known() && !strings.Contains(text, "/generalize"):
			c.untold(id, "sysprep", "its arguments aren't known here")
			return
		case !strings.Contains(text, "/generalize"):
			f.Expected, f.Why, f.Remedy = "/generalize", "all clones have one security identifier, and Windows' activation of one machine", "sysprep.exe /generalize /oobe /quit /quiet"
		case !strings.Contains(text, "/oobe"):
			f.Expected, f.Why, f.Remedy = "/oobe", "clones don't go through Windows Setup's last part, and the answer file isn't read", "sysprep.exe /generalize /oobe /quit /quiet"
		}
		if f.Expected != "" {
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
		if c.unwaited(d) {
			c.add(id, "sysprep", finding.Finding{Severity: finding.Warn, Observed: "nothing waits for sysprep", Expected: "a wait for its end", Evidence: d.at(), Remedy: "Start-Process -Wait, or a loop until ImageState is IMAGE_STATE_GENERALIZE_RESEAL_TO_OOBE",
				Why: "PowerShell goes on at once, since sysprep has a window, and the machine is shut down while it works"})
			return
		}
	}
	c.pass(id, "sysprep", "is run with /generalize and /oobe")
}

// slashed is a command with /flags, also where it has -flags.
func slashed(d commandRun) string { return strings.ReplaceAll(d.Text(), " -", " /") }

// next is the first command of a kind that a step of the build has after sysprep, nil for none.
func (c *buildChecker) next(sysprep commandRun, is func(commandRun) bool) *commandRun {
	after := false
	for i := range c.runs {
		run, does := &c.runs[i], &c.runs[i]
		if first := slices.IndexFunc(c.runs, func(r scriptRun) bool { return r.Name == run.Name && !r.again }); run.again && first >= 0 {
			does = &c.runs[first]
		}
		for _, does := range does.does.Commands {
			d := commandRun{does, run}
			after = after || run == sysprep.in && d.Order >= sysprep.Order
			if after && run.Stage == AtBuild && sysprep.in.Stage == AtBuild && !slices.ContainsFunc(d.Args, justTried) && is(d) {
				return &d
			}
		}
	}
	return nil
}

func starts(d commandRun) bool { return d.Name == "windows-restart" || command.Restarts(d.Command) }

// installs reports whether a command puts something into Windows.
func installs(d commandRun) bool {
	return command.Installs(d.Command) || slices.Contains(updaters, d.Name)
}

// waits are ways in which a script finds out that sysprep is done.
var waits = regexp.MustCompile(`wait|sleep|imagestate|\bwhile\b|\bdo\b|get-process|scheduledtask|sysprep[^\n;]*\||cmd(\.exe)?["']? +/c`)

// unwaited reports whether PowerShell starts sysprep, which has a window, and nothing
// waits for its end: cmd does so by itself.
func (c *buildChecker) unwaited(d commandRun) bool {
	return d.Name == "sysprep" && d.in.Stage == AtBuild && d.in.Language == PowerShell && !d.in.last && strings.Contains(slashed(d), " /quit") &&
		!waits.MatchString(strings.ToLower(d.in.bare)) && !strings.Contains(c.spoken, "imagestate")
}

// shutTwice reports whether a step has sysprep take the machine down, and a
// shutdown_command comes after it.
func (c *buildChecker) shutTwice(d commandRun) bool {
	return d.Name == "sysprep" && d.in.Stage == AtBuild && !d.in.last && strings.Contains(slashed(d), " /shutdown") &&
		!strings.Contains(strings.ToLower(d.in.Text), "scheduledtask") && slices.ContainsFunc(c.runs, func(r scriptRun) bool { return r.last })
}

// unattended is the answer file that sysprep is given, byAgents where clouds' and
// cloudbase-init's own lie.
var (
	unattended = regexp.MustCompile(`[/-]unattend:"?([^"\s]+)`)
	byAgents   = regexp.MustCompile(`[$%{]|program files|\\amazon\\|\\(sysprep|panther)\\`)
)

// onDrive is a path that is known as a whole.
var onDrive = regexp.MustCompile(`^[a-z]:/[^$%{*]+$`)

var copies = regexp.MustCompile(`copy|move|^ren`)

// unbrought is the answer file of a call that nothing in the template brings, or that
// is only brought into other folders; "" for none.
func (c *buildChecker) unbrought(sysprep commandRun) string {
	m := unattended.FindStringSubmatch(sysprep.Text())
	if m == nil || c.Unread != "" || c.base != "" {
		return ""
	}
	plain := func(p string) string { return strings.ReplaceAll(strings.ToLower(p), `\`, "/") }
	wanted := plain(m[1])
	folder, base := path.Split(wanted)
	elsewhere := false
	for _, f := range c.Answers {
		for _, p := range f.places() {
			place := path.Base(plain(p))
			isFolder := !strings.Contains(place, ".")
			if isFolder {
				place = path.Base(plain(f.Name))
			}
			switch {
			case !strings.HasPrefix(place, base): // .pkrtpl is behind it
			case !isFolder && place == base && plain(p) != wanted && onDrive.MatchString(plain(p)) && onDrive.MatchString(wanted):
				elsewhere = true
			default:
				return ""
			}
		}
	}
	names := func(d commandRun) bool { return strings.Contains(d.Text(), base) }
	if elsewhere {
		if slices.ContainsFunc(c.commands(append([]string{"rename-item", "ren", "new-item"}, writers...)...), func(d commandRun) bool {
			isFolder := func(w string) bool { return strings.TrimRight(plain(w), "/*") == strings.TrimSuffix(folder, "/") }
			return names(d) || copies.MatchString(d.Name) && (slices.ContainsFunc(d.Words(), isFolder) || !d.Known() && strings.Contains(d.in.words(), base))
		}) {
			return ""
		}
		return m[1]
	}
	if byAgents.MatchString(sysprep.Text()) || slices.ContainsFunc(c.Scripts, func(s Script) bool { return slices.Contains(s.names(), base) }) ||
		slices.ContainsFunc(c.commands(writers...), names) {
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
	for _, s := range c.Sources {
		shutdown, _ := c.Text(s.Body, "shutdown_command")
		if strings.Contains(strings.ToLower(shutdown), "sysprep") {
			c.add("template.sysprep", s.Name(), finding.Finding{Severity: finding.Warn, Observed: "sysprep is the shutdown_command", Expected: "a step of its own, and a plain shutdown after it",
				Why: "its exit code is never seen, and on some versions the dropped connection fails the build", Evidence: s.At("shutdown_command")})
		}
	}
}
