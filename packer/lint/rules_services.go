package lint

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint/internal/command"
)

// services: what a node needs isn't disabled, csi-proxy is one, and for the operator there
// is no container runtime, and csi-proxy has the name that it takes over.
func services(c *buildChecker) {
	const id = "template.checklist"
	for _, service := range sortedKeys(needed) {
		if o := c.disabled(service); o.wrong != "" {
			c.add(id, service, finding.Finding{Observed: o.wrong, Expected: "started by itself", Why: needed[service], Remedy: "Set-Service -Name " + service + " -StartupType Automatic", Evidence: o.evidence})
		}
	}
	for _, d := range c.commands("new-service", "sc") { // the operator gives its own a command
		if text := d.Text(); c.Profile != "openshift" && d.Known() && strings.Contains(text, "csi-proxy.exe") && !strings.Contains(text, "windows-service") && !wrapper.MatchString(text) && (d.Name != "sc" || strings.Contains(text, " create ")) {
			c.add(id, "csi-proxy", finding.Finding{Observed: "a service without -windows-service", Expected: "csi-proxy.exe -windows-service", Why: "csi-proxy doesn't tell Windows that it runs, and Windows ends it after half a minute",
				Remedy: `sc.exe create csi-proxy binPath= "C:\k\csi-proxy.exe -windows-service ..."`, Evidence: d.at()})
		}
	}
	if c.Profile != "openshift" {
		return
	}
	for _, d := range c.commands() {
		text := d.Text()
		if command.IsRuntime(d.Command) {
			c.add(id, "container-runtime", finding.Finding{Observed: "installed: " + short(text), Expected: "none", Why: "the operator installs containerd itself and fails on a node that has a runtime",
				Remedy: "remove it from the image", Evidence: d.at()})
			break
		}
	}
	if d, barred := c.barred(); barred && !c.on("azure-arm") {
		c.add(id, "administrator", finding.Finding{Observed: "the administrator is disabled, or has another name", Expected: "Administrator, enabled", Why: "the operator logs on as Administrator",
			Remedy: "leave the account as Windows has it", Evidence: d.at()})
	}
	for _, d := range c.commands("new-service", "sc", "nssm") {
		text, words := d.Text(), d.Words()
		if d.Name == "sc" && !strings.Contains(text, " create ") || d.Name == "nssm" && !strings.Contains(text, " install ") {
			continue
		}
		name := strings.Join(d.Param("name", 0).Texts, "")
		if d.Name != "new-service" && len(words) > 1 {
			name = words[1]
			if strings.HasPrefix(words[0], `\\`) && len(words) > 2 {
				name = words[2]
			}
		}
		if (strings.Contains(text, "csi-proxy.exe") || strings.EqualFold(name, "csiproxy")) && !strings.EqualFold(name, "csi-proxy") && !strings.HasPrefix(name, "$") {
			c.add(id, "csi-proxy", finding.Finding{Observed: "a service " + quoted(name), Expected: `"csi-proxy"`, Why: "the operator makes a service csi-proxy, and two of them fight for the pipes",
				Remedy: `sc.exe create csi-proxy binPath= "C:\k\csi-proxy.exe ..."`, Evidence: d.at()})
		}
	}
}

// needed are services that a node doesn't work without, and why.
var needed = map[string]string{"containerd": "no pod runs on the node", "kubelet": "the node doesn't join", "csi-proxy": "CSI drivers mount no volumes on the node",
	"dhcp": "the node gets no address", "dnscache": "the node finds no names", "bfe": "there is no firewall, and no network of containers"}

// wrapper are programs that are a service in another program's place.
var wrapper = regexp.MustCompile(`nssm|winsw|srvany|shawl`)

// barred is the command after which nobody can log on as Administrator. On Azure the
// operator has an account of its own.
func (c *buildChecker) barred() (by commandRun, barred bool) {
	for _, d := range c.commands() {
		for _, e := range command.Accounts(d.Command) {
			if e.Act == command.Barred || e == (command.Event{Act: command.Freed, Name: command.Administrator}) {
				by, barred = d, e.Act == command.Barred
			}
		}
	}
	for _, d := range c.commands("secedit", "lgpo") {
		if command.PolicyBars(c.words()) {
			return d, true
		}
	}
	return by, barred
}

// short is the beginning of a command.
func short(text string) string {
	if runes := []rune(text); len(runes) > 100 {
		return string(runes[:100]) + "..."
	}
	return text
}

// scripts: each can be parsed, and does something.
func scripts(c *buildChecker) {
	const id = "template.script"
	before := len(c.findings)
	for _, d := range c.commands() {
		if what, why, remedy := command.Slip(d.Command, string(d.in.Language), d.in.bare); what != "" {
			c.add(id, d.in.Name, finding.Finding{Severity: finding.Warn, Observed: short(what), Expected: "a command that does what it says", Why: why, Remedy: remedy, Evidence: d.at()})
		}
	}
	for _, s := range c.Scripts {
		for offset, text := range winscript.Encoded(s.Text) {
			if wrong := winscript.Check(text); wrong != nil {
				c.add(id, s.Name, finding.Finding{Observed: wrong.What + ", in what is encoded", Expected: "a script that PowerShell parses", Evidence: at(s.Name, lineAt([]byte(s.Text), offset))})
			}
		}
		if s.Language != PowerShell || s.partial || strings.Contains(s.Text, "{{") && strings.Contains(s.Text, "}}") {
			continue // text that Packer puts values into
		}
		if s.binary {
			c.add(id, s.Name, finding.Finding{Observed: "it has zero bytes, and isn't text", Expected: "a script that PowerShell parses", Evidence: at(s.Name, 0)})
			continue
		}
		if strings.TrimSpace(s.bare) == "" && s.Stage != OnCall {
			c.add(id, s.Name, finding.Finding{Severity: finding.Warn, Observed: "nothing but comments", Expected: "commands", Why: "the step does nothing, and Packer takes it for done",
				Remedy: "write the step, or remove the provisioner", Evidence: at(s.Name, 0)})
		}
		if wrong := winscript.Check(s.Text); wrong != nil {
			c.add(id, s.Name, finding.Finding{Observed: wrong.What, Expected: "a script that PowerShell parses", Evidence: at(s.Name, wrong.Line)})
		}
	}
	if len(c.findings) == before {
		c.pass(id, "scripts", "PowerShell can parse all that could be read")
	}
}
