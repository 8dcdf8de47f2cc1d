package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/builder"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleAnswer = Rule{
	ID: "template.answer", Severity: finding.Block,
	Title:  "Windows Setup reads the answer files as they are meant",
	Why:    "Windows Setup stops there and waits for somebody",
	Remedy: "bake template writes answer files that are checked",

	source: answers,
}

// kinds are how bad package answer's problems are, with words where the rule's own
// don't fit.
var kinds = map[answer.Kind]finding.Finding{
	answer.KindIdentity: {Why: "Windows knows its components by all of these attributes, and has none by others",
		Remedy: `processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS"`},
	answer.KindPass:      {Severity: finding.Warn, Why: "Windows passes over it"},
	answer.KindUnknown:   {Severity: finding.Unknown, Why: "Windows may read it, and it isn't known here"},
	answer.KindEncoding:  {Severity: finding.Unknown, Why: "Windows may read it, and it isn't known here", Remedy: "save it as UTF-8 or UTF-16"},
	answer.KindAutoLogon: {Why: "anyone who can open a clone's console is its administrator", Remedy: "<Enabled>false</Enabled>"},
	answer.KindPassword:  {Why: "anyone who has the template has the password, and the image keeps it", Remedy: "templatefile, with a sensitive variable for the password"},
	answer.KindName:      {Severity: finding.Warn, Why: "the second node of this name doesn't join", Remedy: "<ComputerName>*</ComputerName> in the pass specialize"},
	answer.KindDisk: {Why: "Windows Setup ends with an error, or the machine doesn't start from its disk",
		Remedy: "for EFI: EFI (FAT32, 100 MB or more), MSR (16 MB) and Windows (NTFS, the rest) in this order; for BIOS: an active system partition (NTFS, 500 MB) and Windows; and InstallTo with Windows' number"},
}

// fromMedium are builders that have Windows Setup run, from an answer file.
var fromMedium = []string{"vsphere-iso", "qemu", "vmware-iso", "virtualbox-iso", "parallels-iso", "hyperv-iso", "proxmox-iso"}

func answers(l *look, s *block) {
	files := l.answersOf(s)
	for _, a := range files {
		for _, p := range answer.Check(a.data, !a.forSetup()) {
			f := kinds[p.Kind]
			f.Observed, f.Evidence = p.What, hclfolder.At(a.name, p.Line)
			l.add(a.name, f)
		}
	}
	if len(files) == 0 && slices.Contains(fromMedium, s.Kind()) {
		l.unknown(s.Name(), "no answer file could be read", s.At())
	}
	if l.needsVirtIO(s, "disk_interface") {
		l.add(s.Name(), finding.Finding{Observed: "a disk of virtio, and no driver for it", Expected: "its driver in DriverPaths", Evidence: s.At("disk_interface"),
			Why: "Windows has no driver for it, and Setup finds no disk", Remedy: "Microsoft-Windows-PnpCustomizationsWinPE with the folders of virtio-win, or $WinPEDriver$ on the CD"})
	}
	l.medium(s, files)
}

// inISO is how Microsoft names images in its ISOs, and editions how such a name goes on.
var (
	inISO    = regexp.MustCompile(`(?i)^Windows Server (20\d\d) (SERVER[A-Z]+)$`)
	editions = regexp.MustCompile(`(?i)^SERVER((STANDARD|DATACENTER)A?(CORE)?|(STORAGE|AZURE|TURBINE|WEB|ESSENTIALS|SOLUTION|HYPER)\w*)$`)
	trial    = regexp.MustCompile(`(?i)eval`)
)

// clientKeys are the product keys that Microsoft publishes for clients of a key
// management service, by edition.
// https://learn.microsoft.com/windows-server/get-started/kms-client-activation-keys
var clientKeys = map[string]string{
	"WC2BQ-8NRM3-FDDYY-2BFGV-KHKQY": "2016 STANDARD", "CB7KF-BWN84-R7R2Y-793K2-8XDDG": "2016 DATACENTER",
	"N69G4-B89J2-4G8F4-WWYCC-J464C": "2019 STANDARD", "WMDGN-G9PQG-XVVXX-R3X43-63DFG": "2019 DATACENTER",
	"VDYBN-27WPP-V4HQT-9VMD4-VMK7H": "2022 STANDARD", "WX4NM-KYWYW-QJJR4-XV3QB-6VM33": "2022 DATACENTER",
	"TVRH6-WHNXV-R9WG3-9XRFY-MY832": "2025 STANDARD", "D764K-2NDRG-47T6Q-P8T8W-YP6DF": "2025 DATACENTER",
}

// medium holds the edition and the product key to each other, to the ISO and to the
// machine.
func (l *look) medium(s *block, files []answerFile) {
	var images, keys []string
	for _, a := range files {
		e, k := answer.Chosen(a.data)
		images, keys = append(images, e...), append(keys, k...)
	}
	for _, text := range l.AllTexts(s.Body) {
		if inISO.MatchString(text) {
			images = append(images, text)
		} else if clientKeys[strings.ToUpper(text)] != "" {
			keys = append(keys, text)
		}
	}
	iso := strings.Join(slices.DeleteFunc(l.Telling(s.Body), func(text string) bool { return !strings.HasSuffix(strings.ToLower(text), ".iso") }), " ")
	if len(keys) > 0 && trial.MatchString(iso) {
		l.add(s.Name(), finding.Finding{Severity: finding.Warn, Observed: "a product key with " + iso, Expected: "no key for an evaluation's ISO", Why: "an evaluation takes no product key: Windows Setup finds no image for it, and stops", Remedy: "leave the ProductKey out", Evidence: s.At("iso_url", "iso_paths")})
	}
	for _, image := range images {
		if m := inISO.FindStringSubmatch(image); m != nil {
			l.edition(s, image, m[1], strings.ToUpper(m[2]), iso, keys)
			return // the others are the same one
		}
	}
}

func (l *look) edition(s *block, image, year, edition, iso string, keys []string) {
	f := finding.Finding{Observed: "the edition " + strconv.Quote(image), Why: "Windows Setup finds no such image in the ISO, and stops", Remedy: "name an edition of the release that the template is for", Evidence: s.At("guest_os_type")}
	id, _ := l.Text(s.Body, "guest_os_type")
	guest, _ := builder.GuestOf(id)
	named := inName.FindStringSubmatch(iso)
	for _, key := range keys {
		of, standard, _ := strings.Cut(clientKeys[strings.ToUpper(key)], " ")
		if of != "" && (of != year || !strings.HasPrefix(edition, "SERVER"+standard)) {
			l.add(s.Name(), finding.Finding{Observed: "the edition " + strconv.Quote(image) + " with the product key of " + of + " " + standard, Expected: "a key of this edition", Why: "no image of the ISO fits both: Windows Setup stops", Remedy: "the key of this edition: https://learn.microsoft.com/windows-server/get-started/kms-client-activation-keys", Evidence: s.At()})
			return
		}
	}
	switch {
	case !editions.MatchString(edition):
		f.Severity, f.Expected, f.Remedy = finding.Warn, "one such as SERVERSTANDARDCORE", `Get-WindowsImage -ImagePath D:\sources\install.wim shows the names`
	case guest.Node && !strings.HasSuffix(guest.Windows, year):
		f.Expected = "one of " + guest.Windows + ", as guest_os_type says"
	case len(named) > 0 && named[1] != year:
		f.Severity, f.Expected, f.Evidence = finding.Warn, "one of "+named[1]+", as the ISO's name says", s.At("iso_url", "iso_paths")
	default:
		return
	}
	l.add(s.Name(), f)
}

// brings is how Windows Setup is brought drivers; with arguments of its own QEMU may
// have any disk and card.
var brings = regexp.MustCompile(`DriverPaths|drvload|\$WinPEDriver\$|"-(drive|device)"`)

// needsVirtIO reports whether a device of QEMU is one of VirtIO, which is the builder's
// default, and nothing brings its driver.
func (l *look) needsVirtIO(s *block, attribute string) bool {
	device, st := l.Text(s.Body, attribute)
	if s.Kind() != "qemu" || st == hclfolder.Unknown || st == hclfolder.Known && !strings.HasPrefix(device, "virtio") {
		return false
	}
	files := l.answersOf(s)
	return len(files) > 0 && !slices.ContainsFunc(files, func(a answerFile) bool { return brings.Match(a.data) }) &&
		!slices.ContainsFunc(sortedKeys(l.Files), func(name string) bool { return brings.Match(l.Files[name]) })
}
