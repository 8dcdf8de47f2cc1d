package lint

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/builder"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/notation"
	"github.com/winbake/winbake/packer/lint/internal/table"
)

// forBIOS is for a disk without EFI's partitions.
const forBIOS = "an active system partition (NTFS, 500 MB) and Windows (NTFS, the rest) in this order, and InstallTo with Windows' number"

func answers(c *buildChecker) {
	const id = "template.answer"
	for _, f := range c.Answers {
		c.pass(id, f.Name, "well-formed, and each component in a pass that reads it")
		problems := answer.Check(f.Data, c.generalizes(f))
		for _, p := range answer.Check(answer.Fill(f.Data, f.values), c.generalizes(f)) { // a password is no word of the file's
			if p.Kind == answer.KindSetup && !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
		}
		for _, p := range problems {
			said, ours := table.AnswerOf(string(p.Kind))
			if !ours {
				continue // drive letters have a rule of their own
			}
			if p.Kind == answer.KindDisk && !efiPartition.Match(f.Data) {
				said.Remedy = forBIOS
			}
			c.add(id, f.Name, finding.Finding{Severity: said.Severity, Observed: p.What, Why: said.Why, Remedy: said.Remedy, Evidence: at(f.Name, p.Line)})
		}
		c.notBrought(f)
		if name := c.unseen(f); name != "" {
			c.add(id, f.Name, finding.Finding{Observed: "it is put onto a medium as " + name, Expected: "autounattend.xml, which is the name that Windows Setup looks for",
				Why: "Windows Setup finds no answer file, and stops at its first question", Remedy: "call it autounattend.xml there", Evidence: at(f.Name, 0)})
		}
	}
	if len(c.Answers) == 0 && c.on(fromMedium...) {
		c.untold(id, "autounattend.xml", "no answer file could be read")
	}
}

// onMedia is a script that is run from a drive other than the system's and WinPE's.
var onMedia = regexp.MustCompile(`(?i)(?:\b[ABD-WYZ]|%%?[a-z]|\$\w+):[\\/](?:[\w.-]+[\\/])*([\w-][\w.-]*\.(?:ps1|cmd|bat))\b`)

// notBrought tells once of each script that an answer file runs and no medium has.
func (c *buildChecker) notBrought(f File) {
	if !c.whole || !c.on(fromMedium...) {
		return
	}
	lines, text := map[string][]string{}, notation.Stripped(f.Name, f.Data)
	for _, m := range onMedia.FindAllSubmatchIndex(text, -1) {
		if name := string(text[m[2]:m[3]]); !c.media[strings.ToLower(name)] {
			lines[name] = append(lines[name], at(f.Name, lineAt(text, m[2]))...)
		}
	}
	for _, name := range sortedKeys(lines) {
		c.add("template.answer", f.Name, finding.Finding{Severity: finding.Warn, Observed: "it runs " + name + ", and Packer puts no such file onto a CD or floppy", Expected: "a script that is there",
			Why: "Windows goes on without what the script does", Remedy: "name it in cd_files or cd_content", Evidence: slices.Compact(lines[name])})
	}
}

// setupTold is how Windows Setup is given its answer file by name.
var setupTold = regexp.MustCompile(`\bsetup(\.exe)?\b[^\n]*/unattend:`)

// unseen is the name under which Windows Setup doesn't find its answer file on a
// medium; "" where it finds one, or is told of it.
// https://learn.microsoft.com/windows-hardware/manufacture/desktop/windows-setup-automation-overview
func (c *buildChecker) unseen(f File) string {
	name := f.places()[len(f.places())-1]
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	lower := strings.ToLower(name)
	if !c.media[lower] || c.media["autounattend.xml"] || !strings.HasSuffix(lower, ".xml") || !strings.Contains(string(f.Data), `pass="windowsPE"`) || setupTold.MatchString(c.spoken) || !c.on(fromMedium...) {
		return ""
	}
	return name
}

// lettersOf reports each letter of an answer file once, with all its lines.
func (c *checker) lettersOf(name string) {
	lines := map[string][]string{}
	for _, p := range answer.Check(c.Files[name], false) {
		if p.Kind == answer.KindLetter && !(c.hasFloppy() && strings.HasPrefix(p.What, "drive A:")) {
			lines[p.What] = append(lines[p.What], at(name, p.Line)...)
		}
	}
	for _, what := range sortedKeys(lines) {
		c.add("template.letter", name, finding.Finding{Observed: what, Evidence: lines[what]})
	}
}

// edition is an image of Windows Server by its name in an ISO.
var edition = regexp.MustCompile(`(?i)^Windows Server (20\d\d) (SERVER)?(STANDARD|DATACENTER)`)

// editions: what is installed is what the machine is made for. One that isn't is told.
func editions(c *checker) { _ = slices.ContainsFunc(c.machines, c.editionOf) }

func (c *checker) editionOf(s *block) bool {
	var chosen []string
	for _, f := range c.answers(s) {
		chosen = append(chosen, answer.Editions(f.Data)...)
	}
	for _, name := range sortedKeys(c.Variables) {
		if speaksOf(s.Body, name) || !slices.ContainsFunc(c.Sources, func(o *block) bool { return speaksOf(o.Body, name) }) {
			chosen = append(chosen, expression.Texts(c.Context.Variables["var"].GetAttr(name))...)
		}
	}
	for _, image := range chosen {
		if table.IsMisspelt(image) {
			c.add("template.answer", image, finding.Finding{Severity: finding.Warn, Observed: "the edition " + quoted(image), Expected: "one such as SERVERSTANDARDCORE, by the name in the ISO", Why: "Windows Setup finds no such image in the ISO, and asks which",
				Remedy: "Get-WindowsImage -ImagePath D:\\sources\\install.wim shows the names"})
			return true
		}
		m := edition.FindStringSubmatch(image)
		if m == nil {
			continue
		}
		f := finding.Finding{Observed: "the edition " + quoted(image), Why: "Windows Setup finds no such image in the ISO, or the machine is made for another Windows", Remedy: "name an edition of the release that the template is for"}
		if m[1] < "2022" {
			f.Severity, f.Expected = finding.Warn, "Windows Server 2022 or 2025"
			f.Why = "the operator's nodes run Windows Server 2022 and 2025"
		}
		guest, _ := c.Text(s.Body, "guest_os_type")
		if g, _ := builder.GuestOf(guest); g.Node && !strings.HasSuffix(g.Windows, m[1]) {
			f.Severity, f.Expected, f.Evidence = finding.Block, "one of "+g.Windows+", as guest_os_type says", s.At("guest_os_type")
		}
		if f.Expected != "" {
			c.add("template.answer", image, f)
			return true
		}
	}
	return false
}

// speaksOf reports whether a variable stands in a source.
func speaksOf(b *hclsyntax.Body, variable string) bool {
	found := false
	_ = hclsyntax.VisitAll(b, func(node hclsyntax.Node) hcl.Diagnostics {
		if e, ok := node.(*hclsyntax.ScopeTraversalExpr); ok {
			found = found || e.Traversal.RootName() == "var" && expression.Name(e.Traversal) == variable
		}
		return nil
	})
	return found
}

// fixedLetter is a path on a drive that isn't the system's.
var fixedLetter = regexp.MustCompile(`(?i)(?:^|[\s"'=(:])([ABD-Z]):(?:\\|/)[\w*.\\/ -]`)

// told is what is only said: a line, or a quoted text that goes nowhere else.
var told = regexp.MustCompile(`(?im)^[ \t]*(?:write-(?:host|output|verbose|warning|information|debug)|echo|throw)\b[^|<>&;{}\n]*$|` +
	`\b(?:write-(?:host|output|verbose|warning|information|debug)|throw)\s+(?:'[^'\n]*'|"[^"\n]*")[ \t]*([^|>\s]|\n|$)`)

func letters(c *checker) {
	const id = "template.letter"
	before := len(c.findings)
	for _, name := range sortedKeys(c.Files) {
		if notation.IsAnswer(name, c.Files[name]) && !slices.Contains(c.HCL, name) {
			c.lettersOf(name)
			continue
		}
		text := told.ReplaceAll(opened(notation.Stripped(name, c.Files[name])), []byte("$1"))
		for _, m := range fixedLetter.FindAllSubmatchIndex(text, -1) {
			letter := string(bytes.ToUpper(text[m[2]:m[3]]))
			if letter == "A" && c.hasFloppy() { // its letter doesn't move
				continue
			}
			c.add(id, name, finding.Finding{Observed: "drive " + letter + ": is taken for granted", Evidence: at(name, lineAt(text, m[2]))})
			break
		}
	}
	if len(c.findings) == before {
		c.pass(id, "drive letters", "none but C:")
	}
}
