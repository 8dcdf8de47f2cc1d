package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleBase = Rule{
	ID: "template.base", Severity: finding.Block,
	Title:  "the image that is built on has a known owner, and a Windows in support",
	Why:    "Microsoft gives it no security updates any more",
	Remedy: "build on Windows Server 2022 or 2025",

	folder: owners,
	source: support,
}

// owners: a filter without an owner takes the newest image of anybody who gave it a
// fitting name (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/finding-an-ami.html).
func owners(l *look) {
	for _, d := range l.Data {
		if d.Kind() == "amazon-ami" {
			l.owner(d, d.Body)
		}
	}
	for _, s := range l.Sources {
		for _, body := range hclfolder.Inner(s.Body, "source_ami_filter") {
			l.owner(s, body)
		}
	}
}

func (l *look) owner(b *block, body *hclsyntax.Body) {
	if a := body.Attributes["owners"]; a != nil {
		v := l.Value(a.Expr)
		if !v.IsWhollyKnown() || len(expression.Texts(v)) > 0 && !slices.Contains(expression.Texts(v), "*") {
			return
		}
	}
	l.add(b.Name(), finding.Finding{Observed: "no owners", Expected: `owners = ["amazon"]`, Evidence: b.At("owners"),
		Why: "anybody may publish an AMI of this name, and the newest one is taken", Remedy: `owners = ["amazon"], or your account's number`})
}

// ends are when Microsoft's support of a Windows Server ends.
// https://learn.microsoft.com/lifecycle/products/
var ends = map[string]string{"2008": "2020-01-14", "2012": "2023-10-10", "2016": "2027-01-12", "2019": "2029-01-09"}

// inName is a release in the name of an image, an ISO or a SKU.
var inName = regexp.MustCompile(`(?i)(?:^|(?:windows|server|win)[ ._-]*(?:server)?[ ._-]*)(20(?:08|12|16|19|22|25))`)

func support(l *look, s *block) {
	if strings.HasPrefix(s.Kind(), "vsphere-") && l.Has(s.Body, "guest_os_type") {
		return // the guest id says it
	}
	texts := l.Telling(s.Body)
	for _, d := range l.Data {
		if d.Kind() == "amazon-ami" && strings.HasPrefix(s.Kind(), "amazon-") {
			texts = append(texts, l.Telling(d.Body)...)
		}
	}
	for _, text := range texts {
		m := inName.FindStringSubmatch(text)
		if m == nil || ends[m[1]] == "" || m[1] >= "2016" && l.profile != "openshift" {
			continue
		}
		f := finding.Finding{Severity: finding.Warn, Observed: strconv.Quote(text) + ", that is Windows Server " + m[1] + ", in support until " + ends[m[1]], Expected: "Windows Server 2022 or 2025", Evidence: s.At()}
		if m[1] >= "2016" {
			f.Why = "the operator's nodes run Windows Server 2022 and 2025"
		}
		l.add(s.Name(), f)
		return
	}
}
