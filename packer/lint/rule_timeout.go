package lint

import (
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleTimeout = Rule{
	ID: "template.timeout", Severity: finding.Warn,
	Title:  "Packer waits long enough for Windows, and shuts it down",
	Why:    "Windows takes longer, and the build ends there",
	Remedy: "a longer timeout: it is only waited for as long as needed",

	source: func(l *look, s *block) {
		l.shutdown(s)
		for _, p := range l.Provisioners(s) {
			if p.Kind() == "windows-restart" {
				l.restart(p)
			}
		}
	},
}

// timeout is an attribute's, and Packer's own where it isn't given; 0 if it isn't known.
// https://developer.hashicorp.com/packer/docs/provisioners/windows-restart
func (l *look) timeout(b *block, name string) (d time.Duration, given bool) {
	text, st := l.Text(b.Body, name)
	if st == hclfolder.Absent {
		return 5 * time.Minute, false
	}
	d, _ = time.ParseDuration(text)
	return d, true
}

// cuts are builders that take a machine's power where nothing shuts it down.
var cuts = []string{"qemu", "hyperv-iso", "virtualbox-iso", "vmware-iso"}

func (l *look) shutdown(s *block) {
	command, st := l.Text(s.Body, "shutdown_command")
	f := finding.Finding{Evidence: s.At("shutdown_timeout", "shutdown_command"), Remedy: `shutdown_command = "shutdown.exe /s /t 10 /f"`}
	d, given := l.timeout(s, "shutdown_timeout")
	switch {
	case st == hclfolder.Absent && slices.Contains(cuts, s.Kind()) && !l.Has(s.Body, "disable_shutdown"):
		f.Observed, f.Expected, f.Why = "no shutdown_command", "a shutdown", "Packer takes the machine's power while Windows still writes"
	case d > 0 && (given && d < 5*time.Minute || d < 15*time.Minute && strings.Contains(strings.ToLower(command), "sysprep")):
		f.Observed, f.Expected = "shutdown_timeout is "+d.String(), "15m or more"
		f.Why, f.Remedy = "sysprep and updates take longer than that at shutdown, and Packer ends the build", `shutdown_timeout = "30m"`
	default:
		return
	}
	l.add(s.Name(), f)
}

func (l *look) restart(p *block) {
	d, given := l.timeout(p, "restart_timeout")
	if d == 0 || given && d >= 5*time.Minute {
		return
	}
	f := finding.Finding{Observed: "restart_timeout is " + d.String(), Expected: "30m or more after updates and features", Evidence: p.At("restart_timeout"), Remedy: `restart_timeout = "30m"`}
	if !given {
		f.Severity, f.Observed = finding.Info, f.Observed+" by default"
	}
	l.add(p.At()[0], f)
}
