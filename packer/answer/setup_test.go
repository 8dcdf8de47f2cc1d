package answer

import (
	"slices"
	"strings"
	"testing"
)

// installs is an answer file that installs onto a disk with these partitions.
func installs(create, modify string) string {
	const head = ` processorArchitecture="amd64" publicKeyToken="` + publicKey + `" language="neutral" versionScope="nonSxS">`
	return `<unattend xmlns="` + namespace + `">
<settings pass="windowsPE">
<component name="Microsoft-Windows-International-Core-WinPE"` + head + `
<SetupUILanguage><UILanguage>en-US</UILanguage></SetupUILanguage><UILanguage>en-US</UILanguage>
</component>
<component name="Microsoft-Windows-Setup"` + head + `
<DiskConfiguration><Disk><DiskID>0</DiskID>
<WillWipeDisk>true</WillWipeDisk>
<CreatePartitions>
` + create + `</CreatePartitions>
<ModifyPartitions>
` + modify + `</ModifyPartitions>
</Disk></DiskConfiguration>
<ImageInstall><OSImage>
<InstallFrom><MetaData><Key>/IMAGE/INDEX</Key><Value>2</Value></MetaData></InstallFrom>
<InstallTo><DiskID>0</DiskID>
<PartitionID>PP</PartitionID></InstallTo>
</OSImage></ImageInstall>
<UserData>
<AcceptEula>true</AcceptEula>
</UserData>
</component>
</settings>
</unattend>
`
}

var forEFI = strings.Replace(installs(`<CreatePartition><Order>1</Order><Type>EFI</Type><Size>300</Size></CreatePartition>
<CreatePartition><Order>2</Order><Type>MSR</Type><Size>16</Size></CreatePartition>
<CreatePartition><Order>3</Order><Type>Primary</Type><Extend>true</Extend></CreatePartition>
`, `<ModifyPartition><PartitionID>1</PartitionID><Format>FAT32</Format></ModifyPartition>
<ModifyPartition><PartitionID>2</PartitionID></ModifyPartition>
<ModifyPartition><PartitionID>3</PartitionID><Format>NTFS</Format></ModifyPartition>
`), "PP", "3", 1)

var forBIOS = strings.Replace(installs(`<CreatePartition><Order>1</Order><Type>Primary</Type><Size>500</Size></CreatePartition>
<CreatePartition><Order>2</Order><Type>Primary</Type><Extend>true</Extend></CreatePartition>
`, `<ModifyPartition><PartitionID>1</PartitionID><Format>NTFS</Format><Active>true</Active></ModifyPartition>
<ModifyPartition><PartitionID>2</PartitionID><Format>NTFS</Format></ModifyPartition>
`), "PP", "2", 1)

// TestSetup: each thing that Windows Setup stops at or installs wrongly is found
// at its line, and nothing else.
func TestSetup(t *testing.T) {
	const disk, target = KindDisk, "<PartitionID>%s</PartitionID></InstallTo>"
	to := func(n string) string { return strings.Replace(target, "%s", n, 1) }
	for name, c := range map[string]struct {
		base, old, new string
		kind           Kind   // "" for nothing
		at             string // what is at the line
		what           string
	}{
		"EFI":                        {forEFI, "", "", "", "", ""},
		"BIOS":                       {forBIOS, "", "", "", "", ""},
		"no licence":                 {forEFI, "<AcceptEula>true", "<AcceptEula>false", KindSetup, "<AcceptEula>", "AcceptEula isn't true"},
		"no licence at all":          {forEFI, "<AcceptEula>true</AcceptEula>\n", "", KindSetup, `"Microsoft-Windows-Setup"`, "AcceptEula isn't true"},
		"a licence by 1":             {forEFI, "<AcceptEula>true", "<AcceptEula>1", "", "", ""},
		"a licence by Packer":        {forEFI, "<AcceptEula>true", "<AcceptEula>${accept}", "", "", ""},
		"no edition":                 {forEFI, "<InstallFrom><MetaData><Key>/IMAGE/INDEX</Key><Value>2</Value></MetaData></InstallFrom>", "", KindSetup, "<OSImage>", "no edition is chosen"},
		"a key in its place":         {forEFI, "<InstallFrom><MetaData><Key>/IMAGE/INDEX</Key><Value>2</Value></MetaData></InstallFrom>\n<InstallTo><DiskID>0</DiskID>\n<PartitionID>3</PartitionID></InstallTo>\n</OSImage></ImageInstall>\n<UserData>", "</OSImage></ImageInstall><UserData><ProductKey><Key>x</Key></ProductKey>", "", "", ""},
		"no language of Setup":       {forEFI, "<SetupUILanguage><UILanguage>en-US</UILanguage></SetupUILanguage>", "", KindSetup, "International-Core-WinPE", "no UILanguage of Setup"},
		"no language of WinPE":       {forEFI, "</SetupUILanguage><UILanguage>en-US</UILanguage>", "</SetupUILanguage>", KindSetup, "International-Core-WinPE", "no UILanguage of Setup"},
		"a disk that isn't wiped":    {forBIOS, "<WillWipeDisk>true", "<WillWipeDisk>false", disk, "<WillWipeDisk>", "WillWipeDisk isn't true"},
		"nothing said of wiping":     {forBIOS, "<WillWipeDisk>true</WillWipeDisk>\n", "", disk, "<Disk>", "WillWipeDisk isn't true"},
		"an EFI partition with NTFS": {forEFI, "FAT32", "NTFS", disk, "<Type>EFI", "the EFI partition is NTFS"},
		"an EFI partition of none":   {forEFI, "<Format>FAT32</Format>", "", disk, "<Type>EFI", "the EFI partition isn't formatted"},
		"an EFI partition of 50 MB":  {forEFI, "<Size>300", "<Size>50", disk, "<Type>EFI", "the EFI partition has 50 MB, and needs 100"},
		"an EFI partition by Packer": {forEFI, "<Size>300", "<Size>${size}", "", "", ""},
		"a formatted MSR partition":  {forEFI, "<PartitionID>2</PartitionID>", "<PartitionID>2</PartitionID><Format>NTFS</Format>", disk, "<Type>MSR", "the MSR partition is formatted"},
		"no MSR partition":           {forEFI, "<Type>MSR", "<Type>Other", disk, "<Type>EFI", "an EFI partition without an MSR partition"},
		"MSR without EFI":            {forBIOS, "<Type>Primary</Type><Size>500", "<Type>MSR</Type><Size>500", disk, "<Type>MSR", ""},
		"the rest comes first":       {forBIOS, "<Size>500</Size>", "<Extend>true</Extend>", disk, "<Order>1", "partition 1 takes the rest"},
		"a partition without a size": {forBIOS, "<Size>500</Size>", "", disk, "<Order>1", "partition 1 has neither Size nor Extend"},
		"MSR before EFI":             {forEFI, "<Order>1</Order><Type>EFI", "<Order>4</Order><Type>EFI", disk, "", "the MSR partition comes before"},
		"Windows before MSR":         {forEFI, "<Order>2</Order><Type>MSR</Type><Size>16</Size></CreatePartition>\n<CreatePartition><Order>3</Order><Type>Primary</Type><Extend>true</Extend>", "<Order>3</Order><Type>MSR</Type><Size>16</Size></CreatePartition>\n<CreatePartition><Order>2</Order><Type>Primary</Type><Size>40000</Size>", disk, "<Type>Primary", "Windows' partition comes before"},
		"onto EFI":                   {forEFI, to("3"), to("1"), disk, to("1"), "Windows goes to partition 1, which is EFI"},
		"onto MSR":                   {forEFI, to("3"), to("2"), disk, to("2"), "Windows goes to partition 2, which is MSR"},
		"onto none":                  {forBIOS, to("2"), to("3"), disk, to("3"), "Windows goes to partition 3, and 2 are made"},
		"onto no number":             {forBIOS, to("2"), "</InstallTo>", disk, "<InstallTo>", "InstallTo names no PartitionID"},
		"onto one of Packer's":       {forBIOS, to("2"), to("${n}"), "", "", ""},
		"onto the small one":         {forBIOS, to("2"), to("1"), disk, to("1"), "Windows goes to partition 1, which has 500 MB"},
		"onto FAT32":                 {forBIOS, "<PartitionID>2</PartitionID><Format>NTFS", "<PartitionID>2</PartitionID><Format>FAT32", disk, to("2"), "Windows goes to partition 2, which isn't formatted with NTFS"},
		"onto another disk":          {forBIOS, "<InstallTo><DiskID>0", "<InstallTo><DiskID>1", disk, "<DiskID>1", "Windows goes to disk 1, on which"},
		"onto a disk of Packer's":    {forBIOS, "<InstallTo><DiskID>0", "<InstallTo><DiskID>${n}", "", "", ""},
		"the rest, and a size":       {forEFI, "<Extend>true</Extend>", "<Extend>true</Extend><Size>60000</Size>", disk, "<Type>Primary", "partition 3 has Size and Extend"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(c.base, c.old) {
				t.Fatalf("no %q", c.old)
			}
			text := strings.Replace(c.base, c.old, c.new, 1)
			found := Check([]byte(text), false)
			if c.kind == "" {
				if len(found) > 0 {
					t.Errorf("have %+v", found)
				}
				return
			}
			i := slices.IndexFunc(found, func(p Problem) bool { return p.Kind == c.kind && strings.HasPrefix(p.What, c.what) })
			if i < 0 {
				t.Fatalf("want %s %q, have %+v", c.kind, c.what, found)
			}
			if line := strings.Split(text, "\n")[max(found[i].Line-1, 0)]; !strings.Contains(line, c.at) {
				t.Errorf("%q is said of line %d: %s", found[i].What, found[i].Line, line)
			}
		})
	}
}

// TestSetupOfEachChoice: what is wrong in one branch of a template is told, at its
// line, whichever it is.
func TestSetupOfEachChoice(t *testing.T) {
	body := func(s string) string {
		return s[strings.Index(s, "<DiskConfiguration>"):strings.Index(s, "<UserData>")]
	}
	both := strings.Replace(forEFI, body(forEFI), "%{ if efi ~}"+body(forEFI)+"%{ else ~}"+body(forBIOS)+"%{ endif ~}", 1)
	if found := Check([]byte(both), false); len(found) > 0 {
		t.Errorf("have %+v", found)
	}
	for old, bad := range map[string]string{"FAT32": "NTFS", "<Type>Primary</Type><Size>500</Size>": "<Type>Primary</Type>"} {
		text := strings.Replace(both, old, bad, 1)
		found := Check([]byte(text), false)
		if len(found) != 1 || !strings.Contains(strings.Split(text, "\n")[found[0].Line-1], "<CreatePartition><Order>1") {
			t.Errorf("%s in place of %s: %+v", bad, old, found)
		}
	}
}

// TestChosen: editions and keys that are in the file itself.
func TestChosen(t *testing.T) {
	text := strings.NewReplacer("/IMAGE/INDEX", "/IMAGE/NAME", "<Value>2</Value>", "<Value>Windows Server 2022 SERVERSTANDARD</Value>",
		"<AcceptEula>", "<ProductKey><Key>AAAAA</Key></ProductKey><AcceptEula>").Replace(forEFI)
	editions, keys := Chosen([]byte(text))
	if !slices.Equal(editions, []string{"Windows Server 2022 SERVERSTANDARD"}) || !slices.Equal(keys, []string{"AAAAA"}) {
		t.Errorf("have %q and %q", editions, keys)
	}
	if editions, keys := Chosen([]byte(build(t))); len(editions)+len(keys) > 0 {
		t.Errorf("what Packer fills in is given as %q and %q", editions, keys)
	}
}
