package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/builder"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
	"github.com/winbake/winbake/packer/lint/internal/notation"
	"github.com/winbake/winbake/packer/lint/internal/table"
)

// core are sources that Packer itself has.
var core = []string{"null", "file"}

// bounded is a version constraint with an end: an exact version, a pessimistic
// one, or an upper bound.
var bounded = regexp.MustCompile(`(^|,)\s*(=\s*)?v?[0-9]|~>|<`)

// efiPartition is one that an answer file makes.
var efiPartition = regexp.MustCompile(`<Type>\s*EFI\s*</Type>`)

// plugins: each builder's plugin is required, from a source, in a range.
func plugins(c *checker) {
	const id = "template.plugin"
	required := c.requiredPlugins()
	for _, name := range sortedKeys(required) {
		p := required[name]
		switch {
		case p.source == "":
			c.add(id, name, finding.Finding{Observed: "no source", Expected: `source = "github.com/OWNER/NAME"`, Evidence: p.evidence})
		case !bounded.MatchString(p.version):
			c.add(id, name, finding.Finding{Observed: "version " + quoted(p.version), Expected: "a range with an end", Evidence: p.evidence})
		default:
			c.pass(id, name, p.source+" "+p.version)
		}
	}
	for _, s := range c.Sources {
		kind := s.Labels[0]
		if slices.Contains(core, kind) || slices.ContainsFunc(sortedKeys(required), func(n string) bool { return kind == n || strings.HasPrefix(kind, n+"-") }) {
			continue
		}
		c.add(id, s.Name(), finding.Finding{Observed: "no required_plugins entry", Expected: "one that brings " + kind, Evidence: s.At()})
	}
}

type required struct {
	source, version string
	evidence        []string
}

func (c *checker) requiredPlugins() map[string]required {
	all := map[string]required{}
	for _, p := range c.Packer {
		for _, b := range p.Body.Blocks {
			if b.Type != "required_plugins" {
				continue
			}
			for name, a := range b.Body.Attributes {
				v := c.Value(a.Expr)
				field := func(key string) string {
					if v.IsWhollyKnown() && !v.IsNull() && v.Type().IsObjectType() && v.Type().HasAttribute(key) {
						return strings.Join(expression.Texts(v.GetAttr(key)), "")
					}
					return ""
				}
				all[name] = required{field("source"), field("version"), at(p.File, a.SrcRange.Start.Line)}
			}
		}
	}
	return all
}

func guests(c *checker) {
	const id = "template.guest-id"
	for _, s := range c.Sources {
		if !strings.HasPrefix(s.Labels[0], "vsphere-") && !strings.HasPrefix(s.Labels[0], "vmware-") {
			continue
		}
		value, st := c.Text(s.Body, "guest_os_type")
		f := finding.Finding{Observed: quoted(value), Evidence: s.At("guest_os_type")}
		guest, exists := builder.GuestOf(value)
		switch {
		case s.Labels[0] == "vsphere-clone" && st == absent:
		case st == unknown, value == "" && len(hclfolder.VariablesOf(s.Body, "guest_os_type")) > 0:
			c.untold(id, s.Name(), "guest_os_type is given at build time")
		case strings.HasPrefix(s.Labels[0], "vmware-"): // VMX has names of its own
		case st == absent:
			f.Observed, f.Expected = "no guest_os_type, which makes it otherGuest", "windows2019srvNext_64Guest"
			c.add(id, s.Name(), f)
		case !exists:
			f.Expected = "one of vSphere's ids, such as windows2019srvNext_64Guest or windows2022srvNext_64Guest"
			c.add(id, s.Name(), f)
		case !guest.Node:
			f.Severity, f.Observed = finding.Warn, f.Observed+", that is "+cmp.Or(guest.Windows, "no Windows Server in support")
			f.Expected = "windows2019srvNext_64Guest for Windows Server 2022"
			c.add(id, s.Name(), f)
		default:
			c.pass(id, s.Name(), value+", "+guest.Windows)
			c.hardware(s, value, guest)
		}
	}
}

// hardware holds the machine's version to its guest.
func (c *checker) hardware(s *block, id string, guest builder.Guest) {
	text, st := c.Text(s.Body, "vm_version")
	version, err := strconv.Atoi(text)
	if st != known || err != nil || version == 0 || version >= guest.Hardware {
		return
	}
	c.add("template.guest-id", s.Name(), finding.Finding{Severity: finding.Warn, Observed: fmt.Sprintf("hardware version %d with %s", version, id), Expected: fmt.Sprintf("%d or later", guest.Hardware),
		Why: "ESXi knows " + guest.Windows + " from that version on, and refuses the machine or gives it the devices of another Windows", Remedy: fmt.Sprintf("vm_version = %d", guest.Hardware+1), Evidence: s.At("vm_version")})
}

// efiBy is what tells, by builder, that a machine starts by EFI: an attribute, and how its
// value begins then. Without the attribute it has the builder's default, BIOS.
var efiBy = map[string][2]string{"vsphere-iso": {"firmware", "efi"}, "hyperv-iso": {"generation", "2"}, "proxmox-iso": {"bios", "ovmf"}}

// isEFI tells how a source's machine starts, by the builder's own words.
func (c *checker) isEFI(s *block) (bool, hclfolder.State) {
	if by, has := efiBy[s.Labels[0]]; has {
		v, st := c.Text(s.Body, by[0])
		return strings.HasPrefix(v, by[1]), cmp.Or(st, known)
	}
	if s.Labels[0] != "qemu" {
		return false, absent
	}
	if v, st := c.Text(s.Body, "efi_boot"); st != absent {
		return v == "true", st
	}
	if c.Has(s.Body, "efi_firmware_code") {
		return true, known
	}
	return c.qemuArguments(s)
}

// efiImage is EFI firmware among QEMU's own arguments.
var efiImage = regexp.MustCompile(`(?i)ovmf|edk2|_efi|uefi`)

// qemuArguments tells how a machine starts whose template talks to QEMU
// itself: without firmware of its own it has QEMU's BIOS.
func (c *checker) qemuArguments(s *block) (bool, hclfolder.State) {
	a := s.Body.Attributes["qemuargs"]
	if a == nil {
		return false, known
	}
	v := c.Value(a.Expr)
	efi := slices.ContainsFunc(expression.Texts(v), efiImage.MatchString)
	if !efi && !v.IsWhollyKnown() {
		return false, unknown
	}
	return efi, known
}

func firmware(c *checker) {
	const id = "template.firmware"
	for _, s := range c.Sources {
		efi, st := c.isEFI(s)
		evidence := s.At()
		if st == unknown {
			c.untold(id, s.Name(), "the firmware is given at build time")
		}
		if st != known {
			continue
		}
		tpm, tpmState := c.Text(s.Body, "vTPM")
		if tpmState == absent {
			tpm, _ = c.Text(s.Body, "vtpm")
		}
		if tpm == "true" && !efi {
			c.add(id, s.Name(), finding.Finding{Observed: "a TPM without EFI", Expected: "EFI", Evidence: evidence, Why: "the machine can't be made: a TPM needs EFI"})
			continue
		}
		if bad := c.unseenDisk(s); bad != "" {
			c.add("template.answer", s.Name(), finding.Finding{Observed: bad, Expected: "its driver in DriverPaths", Evidence: s.At("disk_interface", "scsi_controller"),
				Why: "Windows has no driver for it, and Setup finds no disk", Remedy: "Microsoft-Windows-PnpCustomizationsWinPE with the folders of virtio-win, or $WinPEDriver$ on the CD"})
		}
		if bad := c.layoutAgainst(s, efi); bad != "" {
			f := finding.Finding{Observed: bad, Expected: "a layout for the machine's firmware", Evidence: evidence}
			if !efi {
				f.Why, f.Remedy = "Windows Setup makes no EFI partition on the disk of a machine that starts by BIOS", "an active system partition and Windows in the answer file, or EFI as the machine's firmware"
			}
			c.add(id, s.Name(), f)
			continue
		}
		if bad := c.unsecured(s, efi); bad != "" {
			c.add(id, s.Name(), finding.Finding{Severity: finding.Warn, Observed: bad + ": no secure boot", Expected: "EFI with secure boot", Evidence: evidence,
				Why: "without secure boot the nodes start whatever stands on their disks", Remedy: "EFI firmware with secure boot, and EFI and MSR partitions in the answer file"})
			continue
		}
		c.pass(id, s.Name(), "EFI")
	}
}

// unsecured is a machine's firmware where it starts what nobody signed, "" where it
// doesn't, or where that isn't known.
func (c *checker) unsecured(s *block, efi bool) string {
	firmware, _ := c.Text(s.Body, "firmware")
	secure, st := c.Text(s.Body, "enable_secure_boot")
	switch {
	case !efi:
		return "BIOS"
	case s.Labels[0] == "vsphere-iso" && firmware == "efi", s.Labels[0] == "hyperv-iso" && st != unknown && secure != "true":
		return "EFI"
	}
	return ""
}

// attributes of sources that make no image, or none that should be used.
func attributes(c *checker) {
	for _, s := range c.Sources {
		get := func(name string) table.Value { return c.attribute(s.Body, name) }
		for _, f := range table.Faults(s.Labels[0], get) {
			c.add(f.Rule, s.Name(), finding.Finding{Observed: f.Observed, Expected: f.Expected, Why: f.Why, Remedy: f.Remedy, Evidence: s.At(f.Name)})
		}
	}
}

// attribute is one of a block's, or of a block in it: BLOCK.NAME.
func (c *checker) attribute(b *hclsyntax.Body, name string) table.Value {
	first, rest, inner := strings.Cut(name, ".")
	if text, st := c.Text(b, first); st == known {
		return table.Value{Texts: []string{text}, There: true, Known: !inner}
	} else if a := b.Attributes[first]; st == unknown {
		v := c.Value(a.Expr)
		return table.Value{Texts: expression.Texts(v), There: true, Known: v.IsWhollyKnown() && !inner}
	}
	for _, below := range b.Blocks {
		if below = c.Expanded(below); below.Type == first {
			if inner {
				return c.attribute(below.Body, rest)
			}
			return table.Value{There: true, Known: true}
		}
	}
	return table.Value{}
}

// drivers are ways to bring Windows Setup drivers; with arguments of its own QEMU
// may have any disk.
var drivers = regexp.MustCompile(`DriverPaths|drvload|\$WinPEDriver\$|"-(drive|device)"`)

// unseenDisk is a controller of VirtIO where no answer file names drivers, "" for
// none; qemu's default is one.
func (c *checker) unseenDisk(s *block) string {
	disk, st := c.Text(s.Body, map[string]string{"qemu": "disk_interface", "proxmox-iso": "scsi_controller"}[s.Labels[0]])
	answers := c.answers(s)
	if s.Labels[0] == "qemu" && st == absent {
		disk = "virtio"
	}
	if !strings.HasPrefix(disk, "virtio") || len(answers) == 0 || slices.ContainsFunc(answers, func(f File) bool { return drivers.Match(notation.Stripped(f.Name, f.Data)) }) ||
		slices.ContainsFunc(c.HCL, func(name string) bool { return drivers.Match(c.Files[name]) }) {
		return ""
	}
	return "a disk of " + disk + ", and no driver for it"
}

// layoutAgainst says what is wrong with the disk layouts of a source's answer files;
// "" for nothing, or for files that have both, or none.
func (c *checker) layoutAgainst(s *block, efi bool) string {
	has, hasEFI := false, false
	for _, f := range c.answers(s) {
		isEFI := efiPartition.Match(f.Data)
		if isEFI && bytes.Contains(f.Data, []byte("%{ else")) {
			return "" // the template chooses at build time
		}
		has, hasEFI = has || bytes.Contains(f.Data, []byte("<CreatePartition")), hasEFI || isEFI
	}
	switch {
	case has && efi && !hasEFI:
		return "EFI, and the answer file makes no EFI partition"
	case hasEFI && !efi:
		return "BIOS, and the answer file makes an EFI partition"
	}
	return ""
}
