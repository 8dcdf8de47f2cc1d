package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/builder"
	"github.com/winbake/winbake/packer/lint/internal/command"
)

// fromMedium are builders that have Windows Setup run, from an answer file.
var fromMedium = append(builder.Names(builder.ISO), "vmware-iso", "virtualbox-iso", "parallels-iso")

// own are platforms on which nobody but the image brings SSH, keys and ports:
// elsewhere the operator's user data does at first boot.
var own = append(builder.Names(builder.Image), fromMedium...)

var onVSphere = []string{"vsphere-iso", "vsphere-clone"}

// outcome is how far a step is done.
type outcome struct {
	done bool
	// wrong says what it does in its place, "" for nothing.
	wrong    string
	evidence []string
	// untold: it is spoken of, with values that aren't known.
	untold bool
}

func yes(d commandRun) outcome { return outcome{done: true, evidence: d.at()} }
func broken(d commandRun, format string, a ...any) outcome {
	return outcome{wrong: fmt.Sprintf(format, a...), evidence: d.at()}
}

// step is one row of the checklist for a node's image.
type step struct {
	name     string
	severity finding.Severity // if it is missing
	is       func(*buildChecker) outcome
	why      string
	remedy   string
	builders []string // where it applies; empty for everywhere
	// openshift: of this profile alone.
	openshift bool
}

// steps are from the operator's documentation of golden images
// (docs/vsphere-golden-image.md and docs/byoh-instance-pre-requisites.md of
// https://github.com/openshift/windows-machine-config-operator).
var steps = []step{
	{"openssh", finding.Block, openSSH, "nobody can reach the node: the operator comes over SSH", "Add-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0", own, false},
	{"sshd", finding.Block, startedByItself("sshd"), "the node isn't reachable after its first restart", "Set-Service -Name sshd -StartupType Automatic", own, false},
	{"ssh-agent", finding.Warn, startedByItself("ssh-agent"), "the operator's documentation wants sshd and ssh-agent started by themselves", "Set-Service -Name ssh-agent -StartupType Automatic", own, true},
	{"authorized-keys", finding.Block, authorizedKeys, "keys in the administrator's home don't outlive sysprep, and the operator can't log on", `put the key into C:\ProgramData\ssh\administrators_authorized_keys`, own, true},
	{"authorized-keys-acl", finding.Block, keysACL, "sshd passes over a key file that others may read or write", `icacls FILE /inheritance:r /grant:r "*S-1-5-32-544:F" /grant:r "*S-1-5-18:F"`, own, true},
	{"port-22", finding.Block, port(22), "nobody can reach the node: the operator comes over SSH", portRemedy(22), own, false},
	{"port-10250", finding.Block, port(10250), "nobody can read logs of the node's pods", portRemedy(10250), own, false},
	{"port-9182", finding.Warn, port(9182), "the node's metrics are missing", portRemedy(9182), own, true},
	{"vmware-tools", finding.Block, vmwareTools, "vCenter doesn't know the node's address", `run setup64.exe /S /v"/qn REBOOT=R" of VMware Tools' CD`, onVSphere, false},
	{"exclude-nics", finding.Block, excludeNICs, "the address of the node's virtual card is hidden from vCenter, and the node doesn't join", "an empty exclude-nics= below [guestinfo] of VMware Tools' tools.conf", onVSphere, true},
	{"containers-feature", finding.Warn, containersFeature, "each node restarts once more when it joins", "Install-WindowsFeature -Name Containers", nil, false},
	{"updates", finding.Warn, updates, "nodes start with the holes of the ISO's day", "install updates, with a restart after them", nil, false},
	{"os-build", finding.Warn, osBuild, "before build 20348.681 the cluster's network doesn't work, and nothing says so", "compare the build with 20348.681 and throw", nil, true},
	{"host-name", finding.Warn, hostName, "Windows gives clones names in capitals, which the cluster has in lower case", "rename the machine in sysprep's answer file, in the pass specialize or at first logon", own, true},
	{"password-logon", finding.Warn, passwordLogon, "the administrator's password can be guessed over the network", "PasswordAuthentication no in sshd_config", own, true},
}

func portRemedy(n int) string {
	return fmt.Sprintf("New-NetFirewallRule -Direction Inbound -Protocol TCP -LocalPort %d -Action Allow -Profile Any", n)
}

func checklist(c *buildChecker) {
	const id = "template.checklist"
	for _, s := range steps {
		if s.openshift && c.Profile != "openshift" || len(s.builders) > 0 && !c.on(s.builders...) {
			continue
		}
		o := s.is(c)
		f := finding.Finding{Severity: s.severity, Observed: "not there", Expected: "a step for it", Why: s.why, Remedy: s.remedy, Evidence: o.evidence}
		switch {
		case o.done:
			c.pass(id, s.name, "there")
		case o.wrong != "":
			f.Observed = o.wrong
			c.add(id, s.name, f)
		case o.untold:
			c.untold(id, s.name, "its values aren't known here")
		case c.Unread != "":
			c.untold(id, s.name, "not there, unless "+c.Unread+" does it, which can't be read")
		case c.base != "":
			c.untold(id, s.name, "not there, unless "+c.base+" has it")
		default:
			c.add(id, s.name, f)
		}
	}
}

var installers = []string{"add-windowscapability", "dism", "choco", "winget", "msiexec", "install-package", "start-process", "expand-archive"}

func openSSH(c *buildChecker) outcome {
	var out outcome
	for _, d := range c.commands() {
		text := d.Text() + " " + strings.ToLower(strings.Join(d.Input.Texts, " "))
		switch {
		case uninstalls.MatchString(text):
			if out.done {
				out = broken(d, "it is taken away again")
			}
		case strings.HasPrefix(d.Name, "install-sshd"),
			slices.Contains(installers, d.Name) && strings.Contains(text, "openssh") && !strings.Contains(text, "openssh.client"),
			d.Name == "add-windowscapability" && (!d.Known() || d.Input.Open) && strings.Contains(d.in.words(), "openssh.server"):
			if !out.done {
				out = yes(d)
			}
		}
	}
	return out
}

// uninstalls takes the server of OpenSSH away.
var uninstalls = regexp.MustCompile(`^uninstall-sshd|^(remove-windowscapability .*|dism .*/remove-capability.*)openssh\.server`)

// startType is how a service starts in the end, "" where nothing says so.
func (c *buildChecker) startType(service string) (last string, by commandRun) {
	for _, d := range c.commands() {
		if t := command.StartType(d.Command, service, d.in.words); t != "" {
			last, by = t, d
		}
	}
	return last, by
}

// startedByItself: a service whose start type is automatic.
func startedByItself(service string) func(*buildChecker) outcome {
	return func(c *buildChecker) outcome {
		switch last, d := c.startType(service); last {
		case "":
			return outcome{}
		case command.Auto:
			return yes(d)
		default:
			return broken(d, "%s isn't started by itself", service)
		}
	}
}

// disabled is what is wrong with services that are there already, and that the build
// disables in the end.
func (c *buildChecker) disabled(services ...string) outcome {
	for _, service := range services {
		if last, d := c.startType(service); last == command.Disabled {
			return broken(d, "the service %s is disabled", service)
		}
	}
	return outcome{}
}

// writers put text or a file somewhere.
var writers = []string{"set-content", "add-content", "out-file", "copy-item", "move-item", "tee-object", "echo", "copy", "xcopy", "robocopy", "write-output", "type", "get-content",
	".writealltext", ".writealllines", ".appendalltext", ".copyto", "invoke-webrequest", "invoke-restmethod", "start-bitstransfer", "curl", "expand-archive", "tar", "move", "certutil", ".downloadfile"}

// written is a command that writes a file of this name.
func (c *buildChecker) written(file string) (commandRun, bool) {
	for _, d := range c.commands(writers...) {
		if strings.Contains(d.Text(), file) && !strings.HasPrefix(d.Name, "get-") && d.Name != "type" || strings.Contains(strings.ToLower(strings.Join(d.Param(">", -1).Texts, " ")), file) {
			return d, true
		}
	}
	for i, s := range c.Scripts {
		if slices.ContainsFunc(s.Paths, func(p string) bool { return strings.Contains(strings.ToLower(p), file) }) {
			return commandRun{in: &scriptRun{Script: c.Scripts[i]}}, true
		}
	}
	return commandRun{}, false
}

func authorizedKeys(c *buildChecker) outcome {
	const file = "administrators_authorized_keys"
	d, ok := c.written(file)
	if !ok {
		return outcome{}
	}
	for _, r := range c.all() {
		if how := command.LocksOut(strings.Join(r.names(), "\n") + "\n" + r.words()); how != "" {
			return outcome{wrong: how, evidence: at(r.Name, 0)}
		}
	}
	out := yes(d)
	removers := []string{"remove-item", "del", "erase", "rd", "rmdir"}
	for _, d := range c.commands(slices.Concat(writers, removers)...) {
		if text := d.Text(); slices.Contains(removers, d.Name) {
			if strings.Contains(text+" ", file+" ") || strings.Contains(text, file+`"`) || sshData.MatchString(text) {
				out = broken(d, "the file is removed after it was written")
			}
		} else if strings.Contains(text, file) {
			out = yes(d)
		}
	}
	return out
}

// sshData is the folder of sshd's own files as a whole.
var sshData = regexp.MustCompile(`programdata\\ssh(\\\*)?["']?(\s|$)`)

// port is an inbound rule of the firewall for it.
func port(n int) func(*buildChecker) outcome {
	return func(c *buildChecker) outcome {
		var out outcome
		var rules [][]string // names of those that let in
		if n == 22 {
			rules = [][]string{{"openssh-server-in-tcp", "openssh ssh server (sshd)"}} // the capability's
		}
		for _, d := range c.commands("new-netfirewallrule", "netsh", "remove-netfirewallrule", "disable-netfirewallrule", "set-netfirewallrule") {
			if command.Removes(d.Command) {
				before := len(rules)
				if rules = slices.DeleteFunc(rules, func(names []string) bool { return command.AreNamed(names, d.Command) }); before > len(rules) && len(rules) == 0 {
					out = broken(d, "its rule is taken away again")
				}
				continue
			}
			covered, open := command.Covers(d.Command, n)
			if out.done && strings.HasPrefix(d.Text(), "netsh advfirewall reset") {
				out = broken(d, "all rules are taken away again")
			}
			if !covered {
				out.untold = out.untold || open && strings.Contains(d.in.words(), strconv.Itoa(n))
				continue
			}
			switch bad := command.Closed(d.Command); {
			case bad == command.Blocks && !strings.Contains(d.Text(), "remote"):
				return broken(d, "%s", bad) // whatever else lets in
			case bad == "":
				out, rules = yes(d), append(rules, command.RuleNames(d.Command, n))
			case !out.done:
				out.wrong, out.evidence = bad, d.at()
			}
		}
		if n == 22 && !out.done { // the capability and install-sshd.ps1 make the rule themselves
			if o := openSSH(c); o.done && out.wrong == "" {
				return o
			}
		}
		return out
	}
}

func vmwareTools(c *buildChecker) outcome {
	if o := c.disabled("vmtools"); o.wrong != "" {
		return o
	}
	var out outcome
	for _, d := range c.commands() {
		if is, removed := command.VMwareTools(d.Command); removed {
			out = broken(d, "they are taken away again")
		} else if is {
			out = yes(d)
		}
		if !c.on("vsphere-iso") && d.Name == "get-service" && strings.Contains(d.Text(), "vmtools") { // a base that has them
			return yes(d)
		}
	}
	return out
}

// hidden is an exclude-nics that isn't empty, shown one that is. A script that
// replaces the one with the other has both.
var (
	hidden = regexp.MustCompile(`exclude-nics\s*=[ \t]*["']?[a-z*][^\n]*`)
	shown  = regexp.MustCompile(`(?m)exclude-nics\s*=[ \t]*(['"\r\n\\` + "`" + `]|$)|exclude-nics["']?\s+(""|'')?\s*$`)
)

func excludeNICs(c *buildChecker) outcome {
	text := c.words()
	d, written := c.written("tools.conf")
	tool := slices.DeleteFunc(c.commands("vmwaretoolboxcmd"), func(d commandRun) bool { return !strings.Contains(d.Text(), "exclude-nics") })
	switch {
	case !written && len(tool) == 0:
		return outcome{}
	case written && slices.ContainsFunc(c.commands(), func(d commandRun) bool {
		return strings.Contains(d.Text(), "tools.conf") && command.URL(d.Command, d.in.words) != ""
	}):
		return outcome{untold: true}
	case shown.MatchString(text):
		return outcome{done: true}
	case hidden.MatchString(text):
		return outcome{wrong: "set to something: " + strings.TrimSpace(hidden.FindString(text)), evidence: d.at()}
	}
	return outcome{}
}

func containersFeature(c *buildChecker) outcome {
	out := c.disabled("vmcompute", "hns")
	if out.wrong != "" {
		return out
	}
	for _, d := range c.commands("install-windowsfeature", "enable-windowsoptionalfeature", "dism", "enable-feature", "uninstall-windowsfeature", "remove-windowsfeature", "disable-windowsoptionalfeature") {
		switch is := strings.Contains(d.Text()+strings.ToLower(strings.Join(d.Input.Texts, " ")), "containers"); {
		case is && takesAway.MatchString(d.Text()):
			out = broken(d, "it is taken away again")
		case is || !d.Known() && strings.Contains(d.in.words(), "containers"):
			out = yes(d)
		}
	}
	return out
}

var takesAway = regexp.MustCompile(`^(uninstall|remove|disable)-|^dism .*/disable-feature`)

// updaters install updates by themselves: PSWindowsUpdate's commands, Windows'
// own programs, and Packer's provisioner of this name.
var updaters = []string{"install-windowsupdate", "wusa", "usoclient", "windows-update", "install-wuupdates", "wuinstall", "start-wuinstall"}

// updating are the commands that install updates.
func (c *buildChecker) updating() []commandRun {
	out := c.commands(updaters...)
	for _, d := range c.commands("get-windowsupdate", "get-wuinstall", ".install") {
		if d.Name == "get-windowsupdate" && !d.Flag("install") {
			continue
		}
		if d.Name != ".install" || strings.Contains(d.in.Text, "Microsoft.Update") || strings.Contains(strings.ToLower(d.in.Text), "microsoft.update") {
			out = append(out, d)
		}
	}
	return out
}

func updates(c *buildChecker) outcome {
	if found := c.updating(); len(found) > 0 {
		return yes(found[0])
	}
	return outcome{}
}

var buildNumber = regexp.MustCompile(`(?i)kb5012637|\bubr\b|-(lt|le|ge|gt)\s*\S*(20348|26100)`)

// osBuild: the build is held against a lowest one, its update is installed, or the
// provisioner windows-update brings the latest one and fails where it can't.
func osBuild(c *buildChecker) outcome {
	if found := c.commands("windows-update"); len(found) > 0 {
		return yes(found[0])
	}
	for i, r := range c.runs {
		if buildNumber.MatchString(r.bare) {
			return outcome{done: true, evidence: at(c.runs[i].Name, 0)}
		}
	}
	return outcome{}
}

// hostName: a clone is renamed. What renames the machine that the image is made
// of is undone by sysprep.
func hostName(c *buildChecker) outcome {
	var out outcome
	for _, d := range c.commands("rename-computer", ".rename", "netdom", "wmic", "cloudbase-init", "cloudbaseinitsetup") {
		if (d.Name == "netdom" || d.Name == "wmic") && !strings.Contains(d.Text(), "rename") || d.Name == ".rename" && !strings.Contains(strings.ToLower(d.in.Text), "win32_computersystem") {
			continue
		}
		if d.in.stage == InClone {
			return yes(d)
		}
		if d.in.stage != AtSetup {
			out = broken(d, "the machine that the image is made of is renamed, and sysprep takes the name away")
		}
	}
	if strings.Contains(c.words(), "cloudbaseinit") {
		return outcome{done: true}
	}
	for _, f := range c.Answers {
		if m := fixedName.FindSubmatchIndex(f.Data); m != nil && c.generalizes(f) {
			out = outcome{wrong: "all clones are called " + string(f.Data[m[2]:m[3]]), evidence: at(f.Name, lineAt(f.Data, m[0]))}
		}
	}
	return out
}

// fixedName is a name in an answer file that nothing fills in.
var fixedName = regexp.MustCompile(`<ComputerName>\s*([\w-]+)\s*</ComputerName>`)

func passwordLogon(c *buildChecker) outcome {
	return outcome{done: noPasswords.MatchString(c.words())}
}

var noPasswords = regexp.MustCompile(`passwordauthentication\s+["']?no\b`)

// everybody are names and identifiers of groups that more than administrators
// are in. https://learn.microsoft.com/windows-server/identity/ad-ds/manage/understand-security-identifiers
var everybody = regexp.MustCompile(`(?i)^"?\*?(S-1-1-0|S-1-5-11|S-1-5-32-545|S-1-5-4|S-1-5-7|S-1-2-0|everyone|(builtin\\)?(users|guests)|(nt authority\\)?(authenticated users|interactive|anonymous logon)|jeder|benutzer|(.*\\)?domain users)"?($|:)`)

// keysACL: nobody but administrators and SYSTEM has rights on the key file.
func keysACL(c *buildChecker) outcome {
	var out outcome
	protected := slices.ContainsFunc(c.commands("icacls"), func(d commandRun) bool {
		return strings.Contains(d.Text(), "authorized_keys") && strings.Contains(d.Text(), "/inheritance:")
	})
	for _, d := range c.commands("icacls", "cacls", "set-acl", "repair-authorizedkeypermission", "repair-filepermission", "fixhostfilepermissions.ps1", "install-sshd.ps1") {
		if !strings.Contains(d.Text(), "authorized_keys") && !strings.Contains(d.in.words(), "authorized_keys") {
			continue
		}
		if words := d.Words(); d.Name != "install-sshd.ps1" && slices.ContainsFunc(words, everybody.MatchString) {
			who, _, _ := strings.Cut(words[slices.IndexFunc(words, everybody.MatchString)], ":")
			return broken(d, "%s has rights on the key file", who)
		}
		if d.Name == "set-acl" {
			for _, rule := range d.in.does.Commands {
				text := strings.ToLower(rule.Object + " " + rule.Text())
				if !strings.Contains(text, "filesystemaccessrule") || rule.Name != "new-object" && rule.Name != ".new" {
					continue
				}
				for _, w := range rule.Words() {
					if everybody.MatchString(w) && !strings.Contains(strings.ToLower(d.in.Text), "removeaccessrule") {
						return broken(commandRun{rule, d.in}, "%s has rights on the key file", w)
					}
				}
			}
		}
		if isFile := strings.Contains(d.Text(), "authorized_keys"); d.Name == "icacls" && (isFile && !protected || strings.Contains(d.Text(), " /reset")) {
			out = broken(d, "the key file keeps the rights of its folder: no /inheritance:r")
			continue
		}
		out = yes(d)
	}
	return out
}
