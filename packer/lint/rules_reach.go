package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/command"
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// way is how Packer gets into a machine.
type way struct {
	source, communicator, user string
	evidence                   []string
	https                      bool     // WinRM's listener for HTTPS
	already                    bool     // Windows Server has it as it is installed
	absent                     []string // files of the CD that aren't here, in lower case
}

// typed are programs that a boot_command starts.
var typed = regexp.MustCompile(`(?i)://|\{\{|\.(ps1|cmd|bat|exe)\b|powershell|\bcmd\b`)

// wayInto is the way into a machine that Windows Setup makes, nil where the template
// doesn't tell, or where the machine has it already.
func (c *checker) wayInto(s *block) *way {
	if len(s.Labels) == 0 || !slices.Contains(fromMedium, s.Labels[0]) {
		return nil
	}
	if image, st := c.Text(s.Body, "disk_image"); image == "true" || st == unknown {
		return nil
	}
	if a := s.Body.Attributes["boot_command"]; a != nil && slices.ContainsFunc(expression.Texts(c.Value(a.Expr)), typed.MatchString) {
		return nil
	}
	communicator, st := c.Text(s.Body, "communicator")
	if st == absent {
		communicator = "ssh"
	}
	w := &way{source: s.Name(), communicator: communicator, evidence: s.At("communicator")}
	w.user, _ = c.Text(s.Body, communicator+"_username")
	https, httpsState := c.Text(s.Body, "winrm_use_ssl")
	ntlm, ntlmState := c.Text(s.Body, "winrm_use_ntlm")
	w.https = https == "true"
	w.already = httpsState == unknown || !w.https && (ntlm == "true" || ntlmState == unknown)
	for _, p := range c.brought[s].mentions {
		if base := strings.ToLower(path.Base(p)); len(base) > 3 {
			w.absent = append(w.absent, base)
		}
	}
	return w
}

// What speaks of a way in, wherever it stands.
var (
	opens  = map[string]*regexp.Regexp{"ssh": regexp.MustCompile(`ssh`), "winrm": regexp.MustCompile(`winrm|wsman|remoting`)}
	secure = regexp.MustCompile(`https|5986|ssl|certificat|configureremoting`)
)

// logsOn is the user that Windows logs on by itself.
var logsOn = regexp.MustCompile(`(?s)<AutoLogon>.*?<Username>\s*([^<]*?)\s*</Username>.*?</AutoLogon>`)

// entry: what runs in Windows Setup lets Packer in, and somebody has made whom it is to
// be. Where Setup fetches something, or runs what isn't here, nothing is said.
func entry(c *buildChecker) {
	w := c.way
	if w == nil || !slices.ContainsFunc(c.Answers, c.installs) || slices.ContainsFunc(c.Answers, unreadable) {
		return
	}
	var b strings.Builder
	for _, r := range c.runs {
		if r.stage == AtSetup {
			b.WriteString(strings.ToLower(r.bare) + "\n" + r.words())
		}
	}
	text := b.String()
	if slices.ContainsFunc(w.absent, func(base string) bool { return strings.Contains(text, base) }) || slices.ContainsFunc(c.commands(), func(d commandRun) bool {
		return d.in.stage == AtSetup && command.URL(d.Command, d.in.words) != ""
	}) {
		return
	}
	speaks, known := opens[w.communicator]
	waits := finding.Finding{Severity: finding.Warn, Evidence: w.evidence, Why: "Windows is installed, and Packer waits for the machine until it gives up"}
	switch {
	case !known || w.communicator == "winrm" && w.already:
	case !speaks.MatchString(text):
		waits.Observed, waits.Expected = "nothing that Windows Setup runs speaks of "+w.communicator, "FirstLogonCommands that make the machine reachable, with what they run on the CD"
		waits.Remedy = "start a script in FirstLogonCommands that sets it up, and name the script in cd_files or cd_content"
		c.add("template.reach", w.source, waits)
	case w.communicator == "winrm" && w.https && !secure.MatchString(text):
		waits.Observed, waits.Expected = "winrm_use_ssl = true, and nothing that Windows Setup runs makes a listener for HTTPS", "a listener for HTTPS, with a certificate"
		waits.Remedy = "New-SelfSignedCertificate, and New-Item WSMan:\\localhost\\Listener -Transport HTTPS -Address * -CertificateThumbPrint ..."
		c.add("template.reach", w.source, waits)
	}
	if known && !c.hasAccount(w.user, text) {
		waits.Observed, waits.Expected, waits.Remedy = "Packer logs on as "+quoted(w.user)+", and nothing makes that account", "an account that the answer file makes", "Administrator, or a LocalAccount of this name"
		c.add("template.reach", w.source, waits)
	}
	for _, f := range c.Answers {
		data := notation.Stripped(f.Name, f.Data)
		if m := logsOn.FindSubmatch(data); m != nil && c.installs(f) && !strings.Contains(string(m[0]), "<Domain>") && !c.hasAccount(string(m[1]), text) {
			c.add("template.answer", f.Name, finding.Finding{Observed: "AutoLogon of " + quoted(string(m[1])) + ", and nothing makes that account", Expected: "an account that the file makes", Evidence: at(f.Name, 0),
				Why: "nobody is logged on, and FirstLogonCommands don't run", Remedy: "Administrator, or a LocalAccount of this name"})
		}
	}
}

// restarts: no step of a provisioner restarts the machine, unless the template waits for it.
func restarts(c *buildChecker) {
	var step *scriptRun // the provisioner
	var by *commandRun
	for i := range c.runs {
		r := &c.runs[i]
		if r.Stage != AtBuild || r.last {
			continue
		}
		if r.Name == r.Text {
			if by != nil && r.Name != "windows-restart" && !step.waits && !r.waits {
				c.add("template.reach", by.in.Name, finding.Finding{Observed: by.Name + " restarts the machine in a step", Expected: "provisioner windows-restart behind the step", Evidence: by.at(),
					Why: "the connection drops: Packer takes the step for failed, or begins the next one before the restart", Remedy: `provisioner "windows-restart" {}`})
			}
			by, step = nil, r
		}
		for _, d := range r.does.Commands {
			if step != nil && step.Name != "windows-restart" && command.Restarts(d) && !strings.Contains(strings.ToLower(r.bare), "scheduledtask") {
				by = &commandRun{d, r}
			}
		}
	}
}

// unreadable is an answer file whose commands aren't known: that is said already.
func unreadable(f File) bool {
	return slices.ContainsFunc(answer.Check(f.Data, false), func(p answer.Problem) bool { return p.Kind == answer.KindXML || p.Kind == answer.KindEncoding })
}

// installs reports whether Windows Setup is given the file.
func (c *buildChecker) installs(f File) bool { return !c.generalizes(f) }

// hasAccount reports whether there may be an account of this name in a machine whose
// setup has this text.
func (c *buildChecker) hasAccount(name, text string) bool {
	name = strings.ToLower(strings.TrimPrefix(name, `.\`))
	if name == "" || strings.HasPrefix(name, "admin") || strings.ContainsAny(name, `\@${}%`) || strings.Contains(text, name) {
		return true
	}
	for _, f := range c.Answers {
		for _, m := range localAccount.FindAllSubmatch(f.Data, -1) {
			if made := strings.ToLower(string(m[1])); made == name || strings.ContainsAny(made, "${}%") {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.commands("net", "net1", "new-localuser", ".create"), func(d commandRun) bool { return d.in.stage == AtSetup && !d.Known() })
}
