package lint

import (
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/winscript"
)

// scripts: each can be parsed, and does something.
func scripts(c *buildChecker) {
	const id = "template.script"
	before := len(c.findings)
	for _, s := range c.Scripts {
		for offset, text := range winscript.Encoded(s.Text) {
			if wrong := winscript.Check(text); wrong != nil {
				c.add(id, s.Name, finding.Finding{Observed: wrong.What + ", in what is encoded", Expected: "a script that PowerShell parses", Evidence: at(s.Name, lineAt([]byte(s.Text), offset))})
			}
		}
		if s.Language != PowerShell || s.partial || strings.Contains(s.Text, "{{") && strings.Contains(s.Text, "}}") {
			continue // text that Packer puts values into
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
