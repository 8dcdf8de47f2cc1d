package answer

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tree is an element of an answer file.
type tree struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Kids    []tree     `xml:",any"`
}

// all are the elements at a path of names below this one.
func (t tree) all(path ...string) []tree {
	if len(path) == 0 {
		return []tree{t}
	}
	var out []tree
	for _, k := range t.Kids {
		if k.XMLName.Local == path[0] {
			out = append(out, k.all(path[1:]...)...)
		}
	}
	return out
}

// text is the first element's at a path, "" for none.
func (t tree) text(path ...string) string {
	for _, e := range t.all(path...) {
		return strings.TrimSpace(e.Text)
	}
	return ""
}

func (t tree) components(pass, name string) []tree {
	var out []tree
	for _, s := range t.all("settings") {
		if attribute(xml.StartElement{Attr: s.Attrs}, "pass") != pass {
			continue
		}
		for _, c := range s.all("component") {
			if attribute(xml.StartElement{Attr: c.Attrs}, "name") == name {
				out = append(out, c)
			}
		}
	}
	return out
}

// choice is a part of a template that Packer takes or leaves.
var choice = regexp.MustCompile(`(?s)%\{~?\s*if .*?\}(.*?)(?:%\{~?\s*else\s*~?\}(.*?))?%\{~?\s*endif\s*~?\}`)

// variants are the files that a template may become: with all that its
// conditions hold for, and with none of it.
func variants(text []byte) []tree {
	var out []tree
	for _, branch := range []string{"$1", "$2"} {
		data := placeholder.ReplaceAll(directive.ReplaceAll(choice.ReplaceAll(text, []byte(branch)), nil), []byte(filled))
		var t tree
		d := decoder(data)
		if d.Decode(&t) == nil {
			out = append(out, t)
		}
		if !bytes.Contains(text, []byte("%{")) {
			break
		}
	}
	return out
}

// installation finds what Windows Setup stops at, or installs wrongly: it asks
// for what the file doesn't say.
// https://learn.microsoft.com/windows-hardware/manufacture/desktop/automate-windows-setup
func (c *checker) installation(text []byte) {
	said := map[string]bool{}
	for _, t := range variants(text) {
		for _, what := range stops(t) {
			if !said[what] {
				said[what] = true
				c.problems = append(c.problems, Problem{KindSetup, 0, what})
			}
		}
		for _, s := range t.components("windowsPE", setupName) {
			for _, what := range layout(s) {
				if !said[what] {
					said[what] = true
					c.problems = append(c.problems, Problem{KindDisk, 0, what})
				}
			}
		}
	}
}

const setupName = "Microsoft-Windows-Setup"

func stops(t tree) []string {
	var out []string
	setups := t.components("windowsPE", setupName)
	if len(setups) == 0 {
		return nil
	}
	var accepted, edition, language bool
	for _, s := range setups {
		accepted = accepted || isTrue(s.text("UserData", "AcceptEula"))
		edition = edition || len(s.all("ImageInstall", "OSImage", "InstallFrom", "MetaData")) > 0 || s.text("UserData", "ProductKey", "Key") != ""
	}
	for _, s := range t.components("windowsPE", "Microsoft-Windows-International-Core-WinPE") {
		language = language || s.text("UILanguage") != "" && s.text("SetupUILanguage", "UILanguage") != ""
	}
	for _, ask := range []struct {
		answered bool
		what     string
	}{
		{accepted, "AcceptEula isn't true"},
		{edition, "no edition is chosen: there is neither InstallFrom nor a ProductKey"},
		{language, "no UILanguage of Setup in Microsoft-Windows-International-Core-WinPE"},
	} {
		if !ask.answered {
			out = append(out, ask.what)
		}
	}
	return out
}

func isTrue(s string) bool {
	return strings.EqualFold(s, "true") || s == "1" || strings.Contains(s, filled)
}

// partition is one that the file makes, by its number.
type partition struct {
	kind, format string
	size         int
	extend       bool
}

// layout says what is wrong with the disk that a component makes.
// https://learn.microsoft.com/windows-hardware/manufacture/desktop/configure-uefigpt-based-hard-drive-partitions
func layout(s tree) []string {
	disks := s.all("DiskConfiguration", "Disk")
	target := s.all("ImageInstall", "OSImage", "InstallTo")
	var out []string
	if len(disks) == 0 && len(target) == 0 && len(s.all("ImageInstall", "OSImage", "InstallToAvailablePartition")) == 0 {
		return nil
	}
	for _, d := range disks {
		made := partitions(d)
		if len(made) == 0 {
			continue
		}
		if wipes := d.text("WillWipeDisk"); !isTrue(wipes) {
			out = append(out, "WillWipeDisk isn't true, and partitions are made: Setup fails on a disk that isn't empty")
		}
		out = append(out, order(made)...)
		for _, to := range target {
			if to.text("DiskID") == d.text("DiskID") {
				out = append(out, wrongTarget(made, to.text("PartitionID"))...)
			}
		}
	}
	return out
}

func partitions(d tree) []partition {
	type made struct {
		order int
		partition
	}
	var all []made
	for _, c := range d.all("CreatePartitions", "CreatePartition") {
		n, _ := strconv.Atoi(c.text("Order"))
		size, _ := strconv.Atoi(c.text("Size"))
		all = append(all, made{n, partition{kind: c.text("Type"), size: size, extend: isTrue(c.text("Extend"))}})
	}
	slices.SortStableFunc(all, func(a, b made) int { return a.order - b.order })
	var out []partition
	for _, m := range all {
		out = append(out, m.partition)
	}
	for _, m := range d.all("ModifyPartitions", "ModifyPartition") {
		if n, err := strconv.Atoi(m.text("PartitionID")); err == nil && n >= 1 && n <= len(out) {
			out[n-1].format = m.text("Format")
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

func order(made []partition) []string {
	var out []string
	efi := slices.IndexFunc(made, func(p partition) bool { return p.kind == "EFI" })
	msr := slices.IndexFunc(made, func(p partition) bool { return p.kind == "MSR" })
	for i, p := range made {
		switch {
		case p.kind == "EFI" && p.format != "" && p.format != "FAT32":
			out = append(out, "the EFI partition is "+p.format+", and firmware starts from FAT32 alone")
		case p.kind == "EFI" && p.format == "":
			out = append(out, "the EFI partition isn't formatted")
		case p.kind == "EFI" && !p.extend && p.size < leastEFI:
			out = append(out, fmt.Sprintf("the EFI partition has %d MB, and needs %d", p.size, leastEFI))
		case p.kind == "MSR" && (p.format != "" || p.extend):
			out = append(out, "the MSR partition is formatted or extended: it is Windows' own")
		case p.extend && i != len(made)-1:
			out = append(out, fmt.Sprintf("partition %d takes the rest of the disk, and another one follows it", i+1))
		case !p.extend && p.size == 0:
			out = append(out, fmt.Sprintf("partition %d has neither Size nor Extend", i+1))
		}
	}
	switch {
	case efi >= 0 && msr < 0:
		out = append(out, "an EFI partition without an MSR partition behind it")
	case efi < 0 && msr >= 0:
		out = append(out, "an MSR partition without an EFI partition")
	case efi >= 0 && msr < efi:
		out = append(out, "the MSR partition comes before the EFI partition")
	case efi >= 0 && slices.IndexFunc(made, func(p partition) bool { return p.kind == "Primary" && (p.extend || p.size >= leastWindows) }) < msr:
		out = append(out, "Windows' partition comes before the MSR partition")
	}
	return out
}

func wrongTarget(made []partition, id string) []string {
	n, err := strconv.Atoi(id)
	if err != nil || strings.Contains(id, filled) {
		if strings.Contains(id, filled) {
			return nil
		}
		return []string{"InstallTo names no PartitionID"}
	}
	if n < 1 || n > len(made) {
		return []string{fmt.Sprintf("Windows goes to partition %d, and %d are made", n, len(made))}
	}
	switch p := made[n-1]; {
	case p.kind != "Primary":
		return []string{fmt.Sprintf("Windows goes to partition %d, which is %s", n, p.kind)}
	case p.format != "NTFS":
		return []string{fmt.Sprintf("Windows goes to partition %d, which isn't formatted with NTFS", n)}
	case !p.extend && p.size < leastWindows:
		return []string{fmt.Sprintf("Windows goes to partition %d, which has %d MB", n, p.size)}
	}
	return nil
}

// Editions are the images that a file chooses by name; what Packer puts in isn't
// known.
func Editions(data []byte) []string {
	text, err := Text(data)
	if err != nil {
		return nil
	}
	var out []string
	for _, t := range variants(text) {
		for _, s := range t.components("windowsPE", setupName) {
			for _, m := range s.all("ImageInstall", "OSImage", "InstallFrom", "MetaData") {
				if v := m.text("Value"); m.text("Key") == "/IMAGE/NAME" && v != "" && !strings.Contains(v, filled) && !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}
