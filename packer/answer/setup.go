package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const setupName = "Microsoft-Windows-Setup"

// stops are the questions that Windows Setup asks where the file has no answer.
// https://learn.microsoft.com/windows-hardware/manufacture/desktop/automate-windows-setup
func (c *checker) stops(t *element) {
	setups := t.components(setupName)
	if len(setups) == 0 {
		return
	}
	accepted, edition, language, line := false, false, false, setups[0].line
	for _, s := range setups {
		accepted = accepted || isTrue(s.at("UserData", "AcceptEula"))
		edition = edition || len(s.all("ImageInstall", "OSImage", "InstallFrom", "MetaData")) > 0 || s.at("UserData", "ProductKey", "Key") != ""
	}
	for _, s := range t.components("Microsoft-Windows-International-Core-WinPE") {
		language, line = language || s.at("UILanguage") != "" && s.at("SetupUILanguage", "UILanguage") != "", s.line
	}
	if !accepted {
		c.add(setups[0].lineOf("UserData", "AcceptEula"), KindSetup, "AcceptEula isn't true")
	}
	if !edition {
		c.add(setups[0].lineOf("ImageInstall", "OSImage"), KindSetup, "no edition is chosen: there is neither InstallFrom nor a ProductKey")
	}
	if !language {
		c.add(line, KindSetup, "no UILanguage of Setup in Microsoft-Windows-International-Core-WinPE")
	}
}

func isTrue(s string) bool {
	return strings.EqualFold(s, "true") || s == "1" || isPlaceholder(s)
}

// partition is one that the file makes, by its number.
type partition struct {
	kind, format string
	size, line   int
	extend       bool
}

// disks says what is wrong with the disks that a file makes.
// https://learn.microsoft.com/windows-hardware/manufacture/desktop/configure-uefigpt-based-hard-drive-partitions
func (c *checker) disks(t *element) {
	for _, s := range t.components(setupName) {
		disks, targets := s.all("DiskConfiguration", "Disk"), s.all("ImageInstall", "OSImage", "InstallTo")
		for _, to := range targets {
			made := func(d *element) bool { return isPlaceholder(d.at("DiskID")) || d.at("DiskID") == to.at("DiskID") }
			if id := to.at("DiskID"); len(disks) > 0 && id != "" && !isPlaceholder(id) && !slices.ContainsFunc(disks, made) {
				c.add(to.lineOf("DiskID"), KindDisk, "Windows goes to disk %s, on which no partitions are made", id)
			}
		}
		for _, d := range disks {
			c.disk(d, targets)
		}
	}
}

// disk is one of them: where Windows goes to follows from the rest.
func (c *checker) disk(d *element, targets []*element) {
	made, before := partitions(d), len(c.problems)
	if len(made) == 0 {
		return
	}
	if !isTrue(d.at("WillWipeDisk")) {
		c.add(d.lineOf("WillWipeDisk"), KindDisk, "WillWipeDisk isn't true, and partitions are made: Setup fails on a disk that isn't empty")
	}
	if what, p := order(made); what != "" {
		c.add(p.line, KindDisk, "%s", what)
		return
	}
	for i, p := range made {
		if what := p.wrong(i+1, i == len(made)-1); what != "" {
			c.add(p.line, KindDisk, "%s", what)
		}
	}
	for _, to := range targets {
		if what := wrongTarget(made, to.at("PartitionID")); what != "" && to.at("DiskID") == d.at("DiskID") && len(c.problems) == before {
			c.add(to.lineOf("PartitionID"), KindDisk, "%s", what)
		}
	}
}

func partitions(d *element) []partition {
	create := d.all("CreatePartitions", "CreatePartition")
	number := func(t *element, name string) int { n, _ := strconv.Atoi(t.at(name)); return n }
	slices.SortStableFunc(create, func(a, b *element) int { return number(a, "Order") - number(b, "Order") })
	var out []partition
	for _, c := range create {
		size := number(c, "Size")
		if isPlaceholder(c.at("Size")) {
			size = leastWindows
		}
		out = append(out, partition{kind: c.at("Type"), size: size, line: c.line, extend: isTrue(c.at("Extend"))})
	}
	for _, m := range d.all("ModifyPartitions", "ModifyPartition") {
		if n := number(m, "PartitionID"); n >= 1 && n <= len(out) {
			out[n-1].format = m.at("Format")
		}
	}
	return out
}

// Sizes in MB: the EFI partition's least, and a system that is too small for
// Windows Server with its updates.
// https://learn.microsoft.com/windows-server/get-started/hardware-requirements
const (
	leastEFI     = 100
	leastWindows = 32 * 1024
)

// order is what is wrong with the order of partitions, and where; "" for nothing.
func order(made []partition) (string, partition) {
	efi := slices.IndexFunc(made, func(p partition) bool { return p.kind == "EFI" })
	msr := slices.IndexFunc(made, func(p partition) bool { return p.kind == "MSR" })
	windows := slices.IndexFunc(made, func(p partition) bool { return p.kind == "Primary" && (p.extend || p.size >= leastWindows) })
	switch {
	case efi >= 0 && msr < 0:
		return "an EFI partition without an MSR partition behind it", made[efi]
	case efi < 0 && msr >= 0:
		return "an MSR partition without an EFI partition", made[msr]
	case efi >= 0 && msr < efi:
		return "the MSR partition comes before the EFI partition", made[msr]
	case efi >= 0 && windows >= 0 && windows < msr:
		return "Windows' partition comes before the MSR partition", made[windows]
	}
	return "", partition{}
}

// wrong is what is wrong with the partition of a number, "" for nothing.
func (p partition) wrong(n int, last bool) string {
	switch {
	case p.extend && p.size > 0: // https://learn.microsoft.com/previous-versions/windows/it-pro/windows-vista/cc766046(v=ws.10)
		return fmt.Sprintf("partition %d has Size and Extend, and Windows Setup makes none then", n)
	case p.kind == "EFI" && p.format == "":
		return "the EFI partition isn't formatted"
	case p.kind == "EFI" && p.format != "FAT32":
		return fmt.Sprintf("the EFI partition is %s, and firmware starts from FAT32 alone", p.format)
	case p.kind == "EFI" && !p.extend && p.size < leastEFI:
		return fmt.Sprintf("the EFI partition has %d MB, and needs %d", p.size, leastEFI)
	case p.kind == "MSR" && (p.format != "" || p.extend):
		return "the MSR partition is formatted or extended: it is Windows' own"
	case p.extend && !last:
		return fmt.Sprintf("partition %d takes the rest of the disk, and another one follows it", n)
	case !p.extend && p.size == 0:
		return fmt.Sprintf("partition %d has neither Size nor Extend", n)
	}
	return ""
}

func wrongTarget(made []partition, id string) string {
	n, err := strconv.Atoi(id)
	switch {
	case isPlaceholder(id):
		return ""
	case err != nil:
		return "InstallTo names no PartitionID"
	case n < 1 || n > len(made):
		return fmt.Sprintf("Windows goes to partition %d, and %d are made", n, len(made))
	}
	switch p := made[n-1]; {
	case p.kind != "Primary":
		return fmt.Sprintf("Windows goes to partition %d, which is %s", n, p.kind)
	case p.format != "NTFS":
		return fmt.Sprintf("Windows goes to partition %d, which isn't formatted with NTFS", n)
	case !p.extend && p.size < leastWindows:
		return fmt.Sprintf("Windows goes to partition %d, which has %d MB", n, p.size)
	}
	return ""
}

// Chosen are the images that a file chooses by name, and its product keys; what Packer
// puts in isn't known.
func Chosen(data []byte) (editions, keys []string) {
	text, err := Text(data)
	root, _, wrong := parse(variants(text)[0])
	if err != nil || wrong != nil {
		return nil, nil // Check says so
	}
	for _, s := range root.components(setupName) {
		for _, m := range s.all("ImageInstall", "OSImage", "InstallFrom", "MetaData") {
			if value := m.at("Value"); m.at("Key") == "/IMAGE/NAME" && !isPlaceholder(value) {
				editions = append(editions, value)
			}
		}
		if key := s.at("UserData", "ProductKey", "Key"); key != "" && !isPlaceholder(key) {
			keys = append(keys, key)
		}
	}
	return editions, keys
}
