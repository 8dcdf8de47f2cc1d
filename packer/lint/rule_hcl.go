package lint

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleHCL = Rule{
	ID: "template.hcl", Severity: finding.Block,
	Title:  "the template is HCL that can be parsed",
	Why:    "Packer reads none of it",
	Remedy: "packer validate shows the same mistake; fix it there",

	folder: func(l *look) {
		for _, d := range l.Wrong {
			l.add(d.Subject.Filename, finding.Finding{Observed: d.Summary, Evidence: hclfolder.At(d.Subject.Filename, d.Subject.Start.Line)})
		}
		for _, name := range l.JSON {
			l.add(name, finding.Finding{Severity: finding.Unknown, Observed: "a template in JSON, which is legacy and isn't read", Expected: "HCL",
				Why: "what is in it isn't checked", Remedy: "write it as .pkr.hcl, or look at it by hand and --accept template.hcl=" + name})
		}
		if len(l.Sources)+len(l.Wrong) == 0 {
			l.unknown("sources", "the template's builds name no source that is here", nil)
		}
	},
}
