package lint

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/internal/expression"
)

var ruleGuestCheck = Rule{
	ID: "template.guest-check", Severity: finding.Warn,
	Title: "the image is checked in the guest before sysprep",
	Why:   "what scripts did is only known to Windows: a node that doesn't join is the first to tell",

	source: guestCheck,
}

// checks is the guest check as a command, in the text of a step or of its script, and
// generalizes a call of sysprep.
var (
	checks      = regexp.MustCompile(`(?i)node["']?[\s,]+["']?check\b[^\n]*--image\b`)
	generalizes = regexp.MustCompile(`(?i)sysprep(\.exe)?\b["']?[^\n]*[/-]generalize|/generalize\s+/oobe|ec2launch(\.exe)?["']?\s+sysprep|gcesysprep`)
	comments    = regexp.MustCompile(`(?mi)^\s*(#|::|rem\s).*$`)
)

func guestCheck(l *look, s *block) {
	if s.Kind() == "null" {
		return
	}
	sealed := ""
	f := finding.Finding{Observed: "no step runs it", Expected: "a check as the last step before sysprep", Evidence: s.At(),
		Remedy: "provisioner \"winbake-node\" {\n  check   = \"image\"\n  profile = \"" + cmp.Or(l.profile, "openshift") + "\"\n}"}
	for _, p := range l.Provisioners(s) {
		text := l.stepText(p)
		check, _ := l.Text(p.Body, "check")
		switch isCheck := p.Kind() == "winbake-node" && check == "image" || checks.MatchString(text); {
		case isCheck && sealed == "":
			return
		case isCheck:
			f.Observed = "it runs after sysprep, which " + sealed + " runs"
		case generalizes.MatchString(text):
			sealed = p.At()[0]
		}
	}
	l.add(s.Name(), f)
}

// stepText is what a provisioner has for its machine: its own text, and its scripts'
// without lines of comments.
func (l *look) stepText(p *block) string {
	texts := l.AllTexts(p.Body)
	for _, name := range []string{"script", "scripts"} {
		if a := p.Body.Attributes[name]; a != nil {
			for _, file := range expression.Texts(l.Value(a.Expr)) {
				data, err := expression.ReadAt(l.Dir, file)
				if text, decoded := answer.Text(data); err == nil && decoded == nil {
					texts = append(texts, string(text))
				}
			}
		}
	}
	return comments.ReplaceAllString(strings.Join(texts, "\n"), "")
}
