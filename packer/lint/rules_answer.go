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
		return slices.Contains(c.hcl, name) || !isAnswer(name, c.files[name])
	})
}

var severities = map[answer.Kind]finding.Severity{
	answer.KindXML: finding.Block, answer.KindIdentity: finding.Block, answer.KindPass: finding.Warn,
	answer.KindUnknown: finding.Unknown, answer.KindEncoding: finding.Unknown,
	answer.KindAutoLogon: finding.Block, answer.KindPassword: finding.Block,
}

// whys are for the kinds that the rule's own words don't fit.
var whys = map[answer.Kind]string{
	answer.KindAutoLogon: "whoever can open a clone's console is its administrator",
	answer.KindPassword:  "whoever has the template has the password, and the image keeps it",
	answer.KindIdentity:  "Windows knows its components by all of these attributes, and has none by others",
	answer.KindEncoding:  "Windows may read it, and nobody here has",
}

// remedies are for the kinds that the rule's own doesn't mend.
var remedies = map[answer.Kind]string{
	answer.KindIdentity: `processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS"`,
	answer.KindEncoding: "save it as UTF-8 or UTF-16",
}

// fromMedium are builders that have Windows Setup run, from an answer file.
var fromMedium = []string{"vsphere-iso", "qemu", "hyperv-iso", "proxmox-iso", "vmware-iso", "virtualbox-iso", "parallels-iso"}

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
			c.add(id, name, finding.Finding{Severity: severity, Observed: p.What, Why: whys[p.Kind], Remedy: remedies[p.Kind], Evidence: at(name, p.Line)})
		}
		if good {
			c.pass(id, name, "well-formed, and each component in a pass that reads it")
		}
	}
	if len(names) == 0 && c.builder(fromMedium...) {
		c.untold(id, "autounattend.xml", "no answer file could be read")
	}
}

// generalizes reports whether sysprep is given the file: because a command says
// so, or by its content. Windows Setup looks for autounattend.xml by its name:
// that one is for the installation, whatever passes it has.
func (c *checker) generalizes(name string) bool {
	base := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	if regexp.MustCompile(`(?i)/unattend:\S*` + regexp.QuoteMeta(base)).MatchString(c.script()) {
		return true
	}
	return !strings.HasPrefix(base, "autounattend") && strings.Contains(string(c.files[name]), `pass="generalize"`)
}

// lettersOf reports each letter of an answer file once, with all its lines.
func (c *checker) lettersOf(name string) {
	lines := map[string][]string{}
	for _, p := range answer.Check(c.files[name], false) {
		if p.Kind == answer.KindLetter {
			lines[p.What] = append(lines[p.What], at(name, p.Line)...)
		}
	}
	for _, what := range sortedKeys(lines) {
		c.add("template.letter", name, finding.Finding{Observed: what, Evidence: lines[what]})
	}
}

// fixedLetter is a path on a drive that isn't the system's.
var fixedLetter = regexp.MustCompile(`(?i)(?:^|[\s"'=(:])([ABD-Z]):(?:\\|/)[\w*.\\/ -]`)

func letters(c *checker) {
	const id = "template.letter"
	before := len(c.findings)
	for _, name := range c.sorted() {
		if slices.Contains(c.answerFiles(), name) {
			c.lettersOf(name)
			continue
		}
		text := stripped(name, c.files[name])
		if m := fixedLetter.FindSubmatchIndex(text); m != nil {
			c.add(id, name, finding.Finding{Observed: fmt.Sprintf("drive %s: is taken for granted", bytes.ToUpper(text[m[2]:m[3]])), Evidence: at(name, lineAt(text, m[2]))})
		}
	}
	if len(c.findings) == before {
		c.pass(id, "drive letters", "none but C:")
	}
}
