package lint

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/builder"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleGuestID = Rule{
	ID: "template.guest-id", Severity: finding.Block,
	Title:  "vSphere knows the guest id, and it is of a Windows Server in support",
	Why:    "vCenter refuses the machine, or gives it the virtual hardware of another Windows",
	Remedy: `guest_os_type = "windows2019srvNext_64Guest" for Windows Server 2022, "windows2022srvNext_64Guest" for 2025`,

	source: guestID,
}

func guestID(l *look, s *block) {
	value, st := l.Text(s.Body, "guest_os_type")
	if !strings.HasPrefix(s.Kind(), "vsphere-") || s.Kind() == "vsphere-clone" && st == hclfolder.Absent {
		return
	}
	f := finding.Finding{Observed: strconv.Quote(value), Evidence: s.At("guest_os_type")}
	guest, exists := builder.GuestOf(value)
	switch {
	case st == hclfolder.Unknown:
		l.unknown(s.Name(), "guest_os_type is given at build time", f.Evidence)
	case st == hclfolder.Absent:
		f.Observed, f.Expected = "no guest_os_type, which makes it otherGuest", "windows2019srvNext_64Guest"
		l.add(s.Name(), f)
	case !exists:
		f.Expected = "one of vSphere's ids, such as windows2019srvNext_64Guest or windows2022srvNext_64Guest"
		l.add(s.Name(), f)
	case strings.HasPrefix(guest.Windows, "Windows Server 2019") && l.profile != "openshift":
		return // it is in support, and no node's
	case !guest.Node:
		f.Severity, f.Observed = finding.Warn, f.Observed+", that is "+cmp.Or(guest.Windows, "no Windows Server in support")
		f.Expected = "windows2019srvNext_64Guest for Windows Server 2022"
		l.add(s.Name(), f)
	default:
		l.hardware(s, value, guest)
	}
}

// hardware holds the machine's version to its guest.
func (l *look) hardware(s *block, id string, guest builder.Guest) {
	text, _ := l.Text(s.Body, "vm_version")
	version, err := strconv.Atoi(text)
	if err != nil || version == 0 || version >= guest.Hardware {
		return
	}
	l.add(s.Name(), finding.Finding{Severity: finding.Warn, Observed: fmt.Sprintf("hardware version %d with %s", version, id), Expected: fmt.Sprintf("%d or later", guest.Hardware),
		Why: "ESXi knows " + guest.Windows + " from that version on, and refuses the machine or gives it the devices of another Windows", Remedy: fmt.Sprintf("vm_version = %d", guest.Hardware+1), Evidence: s.At("vm_version")})
}
