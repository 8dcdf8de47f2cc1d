package lint

import (
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
)

var ruleBoot = Rule{
	ID: "template.boot", Severity: finding.Warn,
	Title:  "the disk starts before the CD, and the image keeps no CD of the build",
	Why:    "the machine starts from the CD again after Windows Setup",
	Remedy: `boot_order = "disk,cdrom"`,

	source: func(l *look, s *block) {
		if s.Kind() != "vsphere-iso" {
			return
		}
		order, _ := l.Text(s.Body, "boot_order")
		if cd := strings.Index(order, "cdrom"); cd >= 0 && cd < strings.Index(order, "disk") {
			l.add(s.Name(), finding.Finding{Observed: "boot_order = " + strconv.Quote(order), Expected: `"disk,cdrom"`, Evidence: s.At("boot_order")})
		}
		for _, name := range []string{"iso_paths", "iso_url", "iso_urls", "cd_files", "cd_content"} {
			if remove, _ := l.Text(s.Body, "remove_cdrom"); remove != "true" && l.Has(s.Body, name) {
				l.add(s.Name(), finding.Finding{Observed: "no remove_cdrom", Expected: "remove_cdrom = true", Evidence: s.At("remove_cdrom"),
					Why: "the template names the build's CDs: a clone on another host or datastore doesn't start", Remedy: "remove_cdrom = true"})
				return
			}
		}
	},
}
