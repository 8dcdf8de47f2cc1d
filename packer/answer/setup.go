package answer

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// choice is a part of a template that Packer takes or leaves.
var choice = regexp.MustCompile(`(?s)%\{~?\s*if .*?\}(.*?)(?:%\{~?\s*else\s*~?\}(.*?))?%\{~?\s*endif\s*~?\}`)

// variants are the files that a template may become: with all that its
// conditions hold for, and with none of it.
func variants(text []byte) []*tree {
	var out []*tree
	for group := 1; group <= 2; group++ {
		if t, err := parse(chosen(text, group)); err == nil && len(t.kids) > 0 {
			out = append(out, t.kids[0])
		}
		if !bytes.Contains(text, []byte("%{")) {
			break
		}
	}
	return out
}

// chosen is a template with one group of each choice, and all in its place.
func chosen(text []byte, group int) []byte {
	out := bytes.Clone(text)
	for _, m := range choice.FindAllSubmatchIndex(text, -1) {
		for i := m[0]; i < m[1]; i++ {
			if out[i] != '\n' && (i < m[2*group] || i >= m[2*group+1]) {
				out[i] = ' '
			}
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
		for _, p := range slices.Concat(stops(t), layouts(t), orders(t)) {
			if !said[p.What] {
				said[p.What] = true
				c.problems = append(c.problems, p)
			}
		}
	}
}

// lists are those whose entries have an Order each, besides partitions, which have a
// rule of their own.
var lists = []string{"RunSynchronousCommand", "RunAsynchronousCommand", "SynchronousCommand", "AsynchronousCommand"}

// orders finds entries of one list with the same Order, or without one.
func orders(t *tree) []Problem {
	var out []Problem
	t.walk(func(list *tree) {
		seen := map[string]bool{}
		for _, k := range list.kids {
			name := k.start.Name.Local
			if !slices.Contains(lists, name) {
				continue
			}
			order := name + " " + k.at("Order")
			if len(k.all("Order")) == 0 {
				out = append(out, Problem{KindSetup, k.line, "a " + name + " has no Order"})
			} else if seen[order] {
				out = append(out, Problem{KindSetup, k.lineOf("Order"), "two of " + name + " have the Order " + k.at("Order")})
			}
			seen[order] = true
		}
	})
	return out
}

// locale is a language with a region, or a keyboard, or several.
var locale = regexp.MustCompile(`(?i)^(([a-z]{2,3}(-[a-z0-9]+)*|[0-9a-f]{4}:[0-9a-f]{8})(;|$))+$`)

// notInName is a name of a machine with what Windows takes in none. Other tools mark
// with other characters what they fill in.
var notInName = regexp.MustCompile(`^[\w-]+[ .,][\w .,-]*$`)

// longest is how many characters Windows Setup takes.
// https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/
var longest = map[string]int{
	"RunSynchronousCommand Path": 259, "RunAsynchronousCommand Path": 259,
	"SynchronousCommand CommandLine": 1024, "AsynchronousCommand CommandLine": 1024,
	"component ComputerName": 15,
}

// unfit says why Windows Setup doesn't take a value, "" if it does, or if only a part
// of it is known.
func unfit(parent, name, value string) string {
	most, has := longest[parent+" "+name], len([]rune(strings.ReplaceAll(value, filled, "")))
	switch {
	case most > 0 && has > most:
		return fmt.Sprintf("%s has %d characters, and Windows takes %d", name, has, most)
	case strings.Contains(value, filled):
		return ""
	case parent+name == "componentComputerName" && notInName.MatchString(value):
		return fmt.Sprintf("ComputerName %q isn't of letters, digits and dashes alone", value)
	case name == "TimeZone" && strings.Contains(value, "/"):
		return fmt.Sprintf("TimeZone %q isn't a name of Windows' own, such as W. Europe Standard Time", value)
	case (strings.HasSuffix(name, "Locale") || name == "UILanguage") && !locale.MatchString(value):
		return fmt.Sprintf("%s %q is no language or keyboard, such as en-US or 0409:00000409", name, value)
	}
	return ""
}

const setupName = "Microsoft-Windows-Setup"

func stops(t *tree) []Problem {
	setups := t.components(setupName)
	if len(setups) == 0 {
		return nil
	}
	var accepted, edition, language bool
	for _, s := range setups {
		accepted = accepted || isTrue(s.at("UserData", "AcceptEula"))
		edition = edition || len(s.all("ImageInstall", "OSImage", "InstallFrom", "MetaData")) > 0 || s.at("UserData", "ProductKey", "Key") != ""
	}
	setup := setups[0]
	spoken := setup.line
	for _, s := range t.components("Microsoft-Windows-International-Core-WinPE") {
		language, spoken = language || s.at("UILanguage") != "" && s.at("SetupUILanguage", "UILanguage") != "", s.line
	}
	var out []Problem
	for _, ask := range []struct {
		answered bool
		line     int
		what     string
	}{
		{accepted, setup.lineOf("UserData", "AcceptEula"), "AcceptEula isn't true"},
		{edition, setup.lineOf("ImageInstall", "OSImage"), "no edition is chosen: there is neither InstallFrom nor a ProductKey"},
		{language, spoken, "no UILanguage of Setup in Microsoft-Windows-International-Core-WinPE"},
	} {
		if !ask.answered {
			out = append(out, Problem{KindSetup, ask.line, ask.what})
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
	size, line   int
	extend       bool
	order        string
	both         bool // Size and Extend
}

// layouts says what is wrong with the disks that a file makes.
// https://learn.microsoft.com/windows-hardware/manufacture/desktop/configure-uefigpt-based-hard-drive-partitions
func layouts(t *tree) []Problem {
	var out []Problem
	for _, s := range t.components(setupName) {
		disks := s.all("DiskConfiguration", "Disk")
		for _, to := range s.all("ImageInstall", "OSImage", "InstallTo") {
			id := to.at("DiskID")
			if len(disks) > 0 && id != "" && !strings.Contains(id, filled) && !slices.ContainsFunc(disks, func(d *tree) bool { return strings.Contains(d.at("DiskID"), filled) || d.at("DiskID") == id }) {
				out = append(out, Problem{KindDisk, to.lineOf("DiskID"), "Windows goes to disk " + id + ", on which no partitions are made"})
			}
		}
		for _, d := range disks {
			made := partitions(d)
			if len(made) == 0 {
				continue
			}
			if !isTrue(d.at("WillWipeDisk")) {
				out = append(out, Problem{KindDisk, d.lineOf("WillWipeDisk"), "WillWipeDisk isn't true, and partitions are made: Setup fails on a disk that isn't empty"})
			}
			out = append(out, order(made)...)
			for _, to := range s.all("ImageInstall", "OSImage", "InstallTo") {
				if what := wrongTarget(made, to.at("PartitionID")); what != "" && to.at("DiskID") == d.at("DiskID") {
					out = append(out, Problem{KindDisk, to.lineOf("PartitionID"), what})
				}
			}
		}
	}
	return out
}

func partitions(d *tree) []partition {
	create := d.all("CreatePartitions", "CreatePartition")
	number := func(t *tree, name string) int { n, _ := strconv.Atoi(t.at(name)); return n }
	slices.SortStableFunc(create, func(a, b *tree) int { return number(a, "Order") - number(b, "Order") })
	var out []partition
	for _, c := range create {
		size := number(c, "Size")
		if strings.Contains(c.at("Size"), filled) {
			size = leastWindows
		}
		out = append(out, partition{kind: c.at("Type"), size: size, line: c.line, extend: isTrue(c.at("Extend")), order: c.at("Order"),
			both: number(c, "Size") > 0 && strings.EqualFold(c.at("Extend"), "true")})
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

func order(made []partition) []Problem {
	var out []Problem
	add := func(p partition, format string, args ...any) {
		out = append(out, Problem{KindDisk, p.line, fmt.Sprintf(format, args...)})
	}
	efi := slices.IndexFunc(made, func(p partition) bool { return p.kind == "EFI" })
	msr := slices.IndexFunc(made, func(p partition) bool { return p.kind == "MSR" })
	for i, p := range made {
		switch {
		case i > 0 && p.order != "" && p.order == made[i-1].order:
			add(p, "two partitions have the Order %s", p.order)
		case p.both: // https://learn.microsoft.com/previous-versions/windows/it-pro/windows-vista/cc766046(v=ws.10)
			add(p, "partition %d has Size and Extend, and Windows Setup makes none then", i+1)
		case p.kind == "EFI" && p.format != "" && p.format != "FAT32":
			add(p, "the EFI partition is %s, and firmware starts from FAT32 alone", p.format)
		case p.kind == "EFI" && p.format == "":
			add(p, "the EFI partition isn't formatted")
		case p.kind == "EFI" && !p.extend && p.size < leastEFI:
			add(p, "the EFI partition has %d MB, and needs %d", p.size, leastEFI)
		case p.kind == "MSR" && (p.format != "" || p.extend):
			add(p, "the MSR partition is formatted or extended: it is Windows' own")
		case p.extend && i != len(made)-1:
			add(p, "partition %d takes the rest of the disk, and another one follows it", i+1)
		case !p.extend && p.size == 0:
			add(p, "partition %d has neither Size nor Extend", i+1)
		}
	}
	windows := slices.IndexFunc(made, func(p partition) bool { return p.kind == "Primary" && (p.extend || p.size >= leastWindows) })
	switch {
	case efi >= 0 && msr < 0:
		add(made[efi], "an EFI partition without an MSR partition behind it")
	case efi < 0 && msr >= 0:
		add(made[msr], "an MSR partition without an EFI partition")
	case efi >= 0 && msr < efi:
		add(made[msr], "the MSR partition comes before the EFI partition")
	case efi >= 0 && windows >= 0 && windows < msr:
		add(made[windows], "Windows' partition comes before the MSR partition")
	}
	return out
}

func wrongTarget(made []partition, id string) string {
	n, err := strconv.Atoi(id)
	switch {
	case strings.Contains(id, filled):
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

// Editions are the images that a file chooses by name; what Packer puts in isn't
// known.
func Editions(data []byte) []string {
	text, err := Text(data)
	if err != nil {
		return nil
	}
	var out []string
	for _, t := range variants(text) {
		for _, s := range t.components(setupName) {
			for _, m := range s.all("ImageInstall", "OSImage", "InstallFrom", "MetaData") {
				if v := m.at("Value"); m.at("Key") == "/IMAGE/NAME" && v != "" && !strings.Contains(v, filled) && !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}
