// Package rule lists what package lint looks at: the IDs, and the words of each
// rule that stay the same. It looks at nothing itself.
package rule

import "github.com/winbake/winbake/internal/finding"

// Rule is one thing that is looked at.
type Rule struct {
	ID       string
	Severity finding.Severity // at worst, but for UNKNOWN
	Title    string
	Why      string
	Remedy   string
}

// Of is the rule with this ID.
func Of(id string) Rule {
	for _, r := range All {
		if r.ID == id {
			return r
		}
	}
	panic("no such rule: " + id) // a slip of package lint's, found by any test
}

// All are the rules, in the order of the documentation.
var All = []Rule{
	{"template.hcl", finding.Block, "the template can be parsed", "Packer reads none of it", "packer validate shows the same mistake; mend it there"},
	{"template.plugin", finding.Warn, "each plugin has a source and a version with an end", "the next build may run on a plugin whose keys mean something else", `required_plugins { NAME = { source = "github.com/OWNER/NAME", version = ">= 1.4.2, < 2.0.0" } }`},
	{"template.guest-id", finding.Block, "vSphere knows the guest id, and it is of a Windows Server in support", "vCenter refuses the machine, or gives it the virtual hardware of another Windows", `guest_os_type = "windows2019srvNext_64Guest" for Windows Server 2022, "windows2022srvNext_64Guest" for 2025`},
	{"template.firmware", finding.Block, "EFI, TPM and the disk's layout go together", "Windows Setup doesn't start, or the disk it made doesn't", `firmware = "efi-secure", with EFI and MSR partitions in the answer file`},
	{"template.iso", finding.Block, "there is an ISO of Windows, and it has a sum", "nobody notices another ISO in its place, and whoever put it there is in every node", `iso_checksum = "sha256:..."`},
	{"template.boot", finding.Warn, "the disk starts before the CD, EFI's CD gets its key, and nothing is on a floppy", "the machine starts from the CD again after Windows Setup", `boot_order = "disk,cdrom"`},
	{"template.reach", finding.Warn, "Packer gets in by means that Windows has, waits long enough, and knows whom it talks to", "the first upload hangs for minutes, or somebody else reads the passwords", `ssh_file_transfer_method = "sftp"`},
	{"template.secret", finding.Block, "no password has a default or is written down", "whoever has the template has the password, and an image made in a hurry keeps it", "a variable with sensitive = true and no default"},
	{"template.key", finding.Block, "no SSH key or token comes with the template", "every image trusts, or gives away, a key of whoever wrote the template", "a variable for the file with your own public key"},
	{"template.answer", finding.Block, "Windows Setup reads the answer files as they are meant", "Setup stops and waits for somebody, or passes over what it doesn't know", "bake template writes answer files that are checked"},
	{"template.script", finding.Block, "scripts are there, and PowerShell can parse them", "PowerShell runs none of a script that it can't parse, and the build ends there", "correct the script at the place that is named"},
	{"template.letter", finding.Warn, "no drive letter is taken for granted", "letters move with each CD and disk, and the step fails on the next machine", "search all drives for the file, as bake template's scripts do"},
	{"template.download", finding.Warn, "what scripts fetch is held to a sum, a version or a commit", "the image has whatever lies there on the day of the build, and whoever may put it there is in every node", "compare Get-FileHash with a sum in the template, or bring the file along"},
	{"template.updates", finding.Warn, "a failed update or step ends the build", "the image has the holes of the ISO's day, and nobody is told", "let the error end the script, or look for missing updates afterwards, as bake template's scripts do"},
	{"template.winrm", finding.Block, "what WinRM is opened for during the build is closed in the image", "passwords and commands go over the network in the clear", "WinRM over HTTPS, and taken back before sysprep"},
	{"template.left", finding.Warn, "nothing of the build's own stays in the image, nor what it weakened", "whoever knows the build's password gets into each clone", "remove the account before sysprep"},
	{"template.payload", finding.Block, "the payload is held to a digest", "a tag may be another image tomorrow, and nobody would see it", "payload_digest = \"sha256:...\"; bake template --payload fills it in"},
	{"template.sysprep", finding.Block, "the image is generalized, and a dropped connection doesn't break that", "clones share one identity, or the build fails at its last step", "run sysprep with /quit in a task and shut down after it, as bake template's scripts do"},
	{"template.checklist", finding.Block, "every step that a node's image needs is there", "the node doesn't join, or isn't reachable when it has", "see docs/golden-image.md, or start from bake template"},
}
