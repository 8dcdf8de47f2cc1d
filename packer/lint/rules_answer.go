package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/packer/answer"
)

// answerFiles are the files that are, or become, answer files.
func (c *checker) answerFiles() []string {
	return slices.DeleteFunc(c.sorted(), func(name string) bool {
		data := c.files[name]
		return slices.Contains(c.hcl, name) || !bytes.Contains(data, []byte("<unattend")) && !bytes.Contains(data, []byte("urn:schemas-microsoft-com:unattend"))
	})
}

var severities = map[answer.Kind]finding.Severity{
	answer.KindXML: finding.Block, answer.KindPass: finding.Warn, answer.KindUnknown: finding.Unknown,
	answer.KindAutoLogon: finding.Block, answer.KindPassword: finding.Block,
}

// whys are for the kinds that the rule's own words don't fit.
var whys = map[answer.Kind]string{
	answer.KindAutoLogon: "whoever can open a clone's console is its administrator",
	answer.KindPassword:  "whoever has the template has the password, and the image keeps it",
}

func answers(c *checker) {
	const id = "template.answer"
	names := c.answerFiles()
	for _, name := range names {
		good := true
		for _, p := range answer.Check(c.files[name], c.generalizes(name)) {
			severity, ours := severities[p.Kind]
			if !ours {
				continue // drive letters have a rule of their own
			}
			good = false
			c.add(id, name, finding.Finding{Severity: severity, Observed: p.What, Why: whys[p.Kind], Evidence: at(name, p.Line)})
		}
		if good {
			c.pass(id, name, "well-formed, and each component in a pass that reads it")
		}
	}
	if len(names) == 0 && c.builder("vsphere-iso", "qemu", "hyperv-iso", "proxmox-iso", "vmware-iso", "virtualbox-iso") {
		c.untold(id, "autounattend.xml", "no answer file could be read")
	}
}

// generalizes reports whether sysprep is given the file: by its content, or
// because a command says so.
func (c *checker) generalizes(name string) bool {
	if strings.Contains(string(c.files[name]), `pass="generalize"`) {
		return true
	}
	base := regexp.QuoteMeta(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]))
	return !strings.HasPrefix(base, "autounattend") && regexp.MustCompile(`(?i)/unattend:\S*`+base).MatchString(c.script())
}

// fixedLetter is a path on a drive that isn't the system's.
var fixedLetter = regexp.MustCompile(`(?i)(?:^|[\s"'=(:])([ABD-Z]):(?:\\|/)[\w*.\\/ -]`)

func letters(c *checker) {
	const id = "template.letter"
	before := len(c.findings)
	for _, name := range c.sorted() {
		if slices.Contains(c.answerFiles(), name) {
			for _, p := range answer.Check(c.files[name], false) {
				if p.Kind == answer.KindLetter {
					c.add(id, name, finding.Finding{Observed: p.What, Evidence: at(name, p.Line)})
				}
			}
			continue
		}
		text := comment.ReplaceAll(c.files[name], nil)
		if m := fixedLetter.FindSubmatchIndex(text); m != nil {
			c.add(id, name, finding.Finding{Observed: fmt.Sprintf("drive %s: is taken for granted", bytes.ToUpper(text[m[2]:m[3]])), Evidence: at(name, lineAt(text, m[2]))})
		}
	}
	if len(c.findings) == before {
		c.pass(id, "drive letters", "none but C:")
	}
}
