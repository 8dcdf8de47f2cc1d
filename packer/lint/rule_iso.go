package lint

import (
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleISO = Rule{
	ID: "template.iso", Severity: finding.Block,
	Title:  "an ISO that is fetched has a sum",
	Why:    "nobody notices another ISO, and the one who put it there is in every node",
	Remedy: `iso_checksum = "sha256:..."`,

	source: func(l *look, s *block) {
		if l.Has(s.Body, "iso_url") || l.Has(s.Body, "iso_urls") {
			l.sum(s)
		}
	},
}

func (l *look) sum(s *block) {
	sum, st := l.Text(s.Body, "iso_checksum")
	f := finding.Finding{Observed: "iso_checksum is " + strconv.Quote(sum), Expected: "sha256:...", Evidence: s.At("iso_checksum", "iso_url", "iso_urls")}
	switch {
	case st == hclfolder.Unknown: // Packer demands one at build time
	case sum == "" || sum == "none":
		l.add(s.Name(), f)
	case strings.HasPrefix(sum, "md5:") || strings.HasPrefix(sum, "sha1:") || !strings.Contains(sum, ":") && len(sum) < 64:
		f.Severity, f.Why = finding.Warn, "files with the same MD5 or SHA-1 sum can be made"
		l.add(s.Name(), f)
	}
}
