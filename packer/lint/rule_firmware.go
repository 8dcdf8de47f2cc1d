package lint

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleFirmware = Rule{
	ID: "template.firmware", Severity: finding.Block,
	Title:  "EFI, TPM and the disk's layout go together",
	Why:    "Windows Setup doesn't start, or the disk it made doesn't",
	Remedy: `firmware = "efi-secure", with EFI and MSR partitions in the answer file`,

	source: firmware,
}

func firmware(l *look, s *block) {
	efi, st := l.isEFI(s)
	if st == hclfolder.Unknown {
		l.unknown(s.Name(), "the firmware is given at build time", s.At())
	}
	if st != hclfolder.Known {
		return
	}
	f := finding.Finding{Evidence: s.At("firmware", "efi_boot")}
	tpm, _ := l.Text(s.Body, "vTPM")
	layout := l.layout(s)
	value, _ := l.Text(s.Body, "firmware")
	switch {
	case tpm == "true" && !efi:
		f.Observed, f.Expected, f.Why = "a TPM without EFI", "EFI", "the machine can't be made: a TPM needs EFI"
	case efi && layout == "BIOS":
		f.Observed, f.Expected = "EFI, and the answer file makes no EFI partition", "EFI and MSR partitions"
	case !efi && layout == "EFI":
		f.Observed, f.Expected = "BIOS, and the answer file makes an EFI partition", "an active system partition"
		f.Why, f.Remedy = "Windows Setup makes no EFI partition on the disk of a machine that starts by BIOS", "an active system partition and Windows in the answer file, or EFI as the machine's firmware"
	case !efi, s.Kind() == "vsphere-iso" && value == "efi":
		f.Severity, f.Observed, f.Expected = finding.Warn, "no secure boot", "EFI with secure boot"
		f.Why, f.Remedy = "without secure boot the nodes start whatever is on their disks", "EFI firmware with secure boot, and EFI and MSR partitions in the answer file"
	default:
		return
	}
	l.add(s.Name(), f)
}

// isEFI tells how a source's machine starts, by the builder's own words. Without them it
// has the builder's default, BIOS.
func (l *look) isEFI(s *block) (bool, hclfolder.State) {
	switch s.Kind() {
	case "vsphere-iso":
		v, st := l.Text(s.Body, "firmware")
		if st == hclfolder.Absent {
			st = hclfolder.Known
		}
		return strings.HasPrefix(v, "efi"), st
	case "qemu":
		boot, st := l.Text(s.Body, "efi_boot")
		if st == hclfolder.Absent {
			boot, st = l.Text(s.Body, "efi_firmware_code")
		}
		if _, own := l.Text(s.Body, "qemuargs"); st == hclfolder.Absent && own == hclfolder.Absent {
			st = hclfolder.Known
		}
		return boot != "" && boot != "false", st
	}
	return false, hclfolder.Absent
}

// layout is what the disk is made for by a source's answer files, EFI or BIOS; "" where
// they make none, or the template chooses at build time.
func (l *look) layout(s *block) string {
	layout := ""
	for _, a := range l.answersOf(s) {
		isEFI, makes := efiPartition.Match(a.data), strings.Contains(string(a.data), "<CreatePartition")
		switch {
		case isEFI && strings.Contains(string(a.data), "%{ else"):
			return ""
		case isEFI:
			layout = "EFI"
		case makes && layout == "":
			layout = "BIOS"
		}
	}
	return layout
}

// efiPartition is one that an answer file makes.
var efiPartition = regexp.MustCompile(`<Type>\s*EFI\s*</Type>`)
