package lint

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

// public are templates in the style of those that people publish, in folders of
// testdata/public: of the Windows Machine Config Operator's documentation,
// rgl/windows-vagrant and StefanScherer/packer-windows. Each finding that is right
// has its reason here, and there are no others. never are words of findings that
// would be false.
var public = map[string]struct{ right, never map[string]string }{
	"operator": {
		right: map[string]string{
			"BLOCK template.answer answers/autounattend.xml: AdministratorPassword": "is in the file",
			"BLOCK template.answer answers/autounattend.xml: Password":              "of AutoLogon too",
			"BLOCK template.answer answers/unattend.xml: AdministratorPassword":     "and in sysprep's file, which stays in the image",
			"BLOCK template.answer answers/unattend.xml: Password":                  "so too",
			"BLOCK template.answer answers/unattend.xml: AutoLogon":                 "each clone logs on by itself",
			"BLOCK template.key scripts/authorized_keys: a public key":              "comes with the template",
			"BLOCK template.secret var.password: a default":                         "is the administrator's password",
			"UNKNOWN template.checklist exclude-nics: its values":                   "are what somebody else's file has on that day",
			"WARN template.checklist containers-feature: not there":                 "the operator installs it, with a restart",
			"WARN template.checklist os-build: not there":                           "the task's result isn't read, so the build may be the ISO's",
			"WARN template.checklist password-logon: not there":                     "the script sets yes",
			"WARN template.download scripts/tools.ps1: https://raw":                 "is of a branch",
			"WARN template.download scripts/updates.ps1: install-module":            "has no version",
			"WARN template.firmware vsphere-iso.server: BIOS":                       "has no secure boot",
			"WARN template.guest-id vsphere-iso.server: \"windows9Server64Guest\"":  "is 2016",
			"WARN template.left SkipRearm: SkipRearm = 1":                           "is in sysprep's file",
			"WARN template.letter scripts/tools.cmd: drive E:":                      "is one of two CDs",
			"WARN template.plugin vsphere-iso.server: no required_plugins":          "there is none",
			"WARN template.reach vsphere-iso.server: files go by scp":               "is Packer's default",
			"WARN template.reach vsphere-iso.server: insecure_connection":           "is true",
			"WARN template.sysprep vsphere-iso.server: sysprep is the shutdown":     "nobody sees its exit code",
			"WARN template.updates scripts/updates.ps1: get-wuinstall runs in":      "the script waits for its end alone",
			"INFO template.boot vsphere-iso.server: floppy_files":                   "work here, and not everywhere",
			"INFO template.iso vsphere-iso.server: an ISO that lies there":          "has no sum",
			"INFO template.payload payload: no node files":                          "the operator copies them",
		},
		never: map[string]string{
			"drive A:":             "the floppy's letter doesn't move",
			"no boot_order":        "vsphere-iso has disk before cdrom by itself",
			"EFI machines have no": "the machine starts by BIOS",
			"host-name: not there": "sysprep's answer file runs rename.ps1 at the first logon",
			"updates: not there":   "they run in a task",
			"hardware version":     "15 knows Windows Server 2016, which is what is named",
			"nothing runs it":      "the shutdown_command runs sysprep",
			"authorized-keys-acl:": "Set-Acl does it",
			"no edition is chosen": "an index chooses it",
		},
	},
	"vagrant": {
		right: map[string]string{
			"BLOCK template.answer box/autounattend.xml: AdministratorPassword": "is in the file",
			"BLOCK template.answer box/autounattend.xml: Password":              "of the account, and of AutoLogon",
			"BLOCK template.checklist authorized-keys: not there":               "the key is in the home of an account",
			"BLOCK template.checklist exclude-nics: not there":                  "nothing sets it",
			"BLOCK template.checklist port-10250: not there":                    "nothing opens it",
			"BLOCK template.secret vsphere-iso.box.ssh_password: written":       "everybody knows it",
			"BLOCK template.sysprep sysprep: nothing runs it":                   "a box is generalized by its user, and an image isn't",
			"BLOCK template.winrm winrm.ps1: WinRM takes requests":              "it stays so",
			"WARN template.checklist containers-feature: not there":             "the operator installs it, with a restart",
			"WARN template.checklist password-logon: not there":                 "vagrant logs on by password",
			"WARN template.checklist port-9182: not there":                      "nothing opens it",
			"WARN template.checklist ssh-agent: not there":                      "sshd's start type is set, and not this one's",
			"WARN template.firmware vsphere-iso.box: EFI: no secure boot":       "the firmware is efi, and not efi-secure",
			"WARN template.download cloudbase-init.ps1: https://github":         "has no sum",
			"WARN template.download openssh.ps1: https://raw":                   "the key is of a branch",
			"WARN template.left vagrant: an account is made":                    "everybody knows its password",
			"WARN template.letter vmtools.ps1: drive E:":                        "is the CD of Tools on one machine",
			"WARN template.reach vsphere-iso.box: insecure_connection":          "is true",
			"WARN template.winrm winrm.ps1: WinRM takes passwords":              "it stays so",
			"INFO template.iso vsphere-iso.box: an ISO that lies there":         "has no sum",
			"INFO template.payload payload: no node files":                      "the operator copies them",
		},
		never: map[string]string{
			"no boot_order":      "vsphere-iso has disk before cdrom by itself",
			"os-build":           "windows-update installs what there is, or fails",
			"provision.ps1":      "PowerShell 7 runs it, which knows ??",
			"OpenSSH-Win64.zip":  "its sum is compared",
			"AutoAdminLogon":     "first.ps1 ends it",
			"host-name":          "cloudbase-init renames clones",
			"var.vsphere_passwo": "the environment gives it",
		},
	},
	"packer-windows": {
		right: map[string]string{
			"BLOCK template.answer answers/Autounattend.xml: AdministratorPassword": "is in the file",
			"BLOCK template.answer answers/Autounattend.xml: Password":              "of the account, and of AutoLogon",
			"BLOCK template.answer scripts/unattend.xml: AutoLogon":                 "sysprep.bat gives it to sysprep",
			"BLOCK template.answer scripts/unattend.xml: Password":                  "stays in the image",
			"BLOCK template.checklist authorized-keys: not there":                   "it is WinRM's",
			"BLOCK template.checklist authorized-keys-acl: not there":               "so",
			"BLOCK template.checklist openssh: not there":                           "so",
			"BLOCK template.checklist sshd: not there":                              "so",
			"BLOCK template.checklist port-22: not there":                           "so",
			"BLOCK template.checklist port-10250: not there":                        "nothing opens it",
			"BLOCK template.secret qemu.server.winrm_password: written":             "everybody knows it",
			"BLOCK template.secret virtualbox-iso.server.winrm_password: written":   "everybody knows it",
			"BLOCK template.winrm scripts/winrm.ps1: WinRM takes requests":          "it stays so",
			"WARN template.checklist containers-feature: not there":                 "the operator installs it, with a restart",
			"BLOCK template.answer qemu.server: a disk of virtio":                   "is the plugin's default, and Windows hasn't the driver",
			"WARN template.checklist host-name: all clones are called vagrant":      "sysprep's file says so",
			"WARN template.checklist os-build: not there":                           "the updates' result is printed, and nothing ends the build",
			"WARN template.checklist password-logon: not there":                     "there is no sshd_config",
			"WARN template.checklist port-9182: not there":                          "nothing opens it",
			"WARN template.checklist ssh-agent: not there":                          "there is no OpenSSH",
			"WARN template.download scripts/guest-tools.ps1: https://www.7-zip.org": "has no sum",
			"WARN template.firmware qemu.server: BIOS":                              "has no secure boot",
			"WARN template.iso virtualbox-iso.server: iso_checksum is":              "is MD5",
			"WARN template.left vagrant: an account is made":                        "everybody knows its password",
			"WARN template.plugin qemu.server: no required_plugins":                 "there is none",
			"WARN template.plugin virtualbox-iso.server: no required_plugins":       "there is none",
			"WARN template.reach qemu.server: WinRM over plain HTTP":                "winrm_use_ssl is false by default",
			"WARN template.reach virtualbox-iso.server: WinRM over plain HTTP":      "so",
			"WARN template.sysprep qemu.server: sysprep is the shutdown":            "nobody sees its exit code",
			"WARN template.sysprep virtualbox-iso.server: sysprep is the shutdown":  "so",
			"WARN template.updates scripts/updates.ps1: what Install() returns":     "is printed alone",
			"WARN template.winrm scripts/winrm.ps1: WinRM takes passwords":          "it stays so",
			"INFO template.boot qemu.server: floppy_files":                          "work here, and not everywhere",
			"INFO template.boot virtualbox-iso.server: floppy_files":                "so",
			"INFO template.payload payload: no node files":                          "the operator copies them",
		},
		never: map[string]string{
			"drive A:":            "the floppy's letter doesn't move",
			"SkipRearm":           "it is 0",
			"nothing runs it":     "sysprep.bat does, with /generalize on both ways",
			"updates: not there":  "updates.ps1 installs them before Packer comes in",
			"AcceptEula":          "it is true",
			"Windows goes to par": "an active partition and Windows are right for BIOS",
			"files go by scp":     "WinRM has no scp",
		},
	},
}

func TestPublicTemplates(t *testing.T) {
	for name, want := range public {
		t.Run(name, func(t *testing.T) {
			found := map[string]bool{}
			for _, f := range check(t, filepath.Join("testdata", "public", name), Options{}) {
				if f.Severity == finding.Pass {
					continue
				}
				said := fmt.Sprintf("%s %s %s: %s", f.Severity, f.ID, f.Object, f.Observed)
				for words, why := range want.never {
					if strings.Contains(said+" "+f.Why, words) {
						t.Errorf("false, since %s: %s; %s", why, said, f.Why)
					}
				}
				known := slices.Collect(maps.Keys(want.right))
				i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(said, k) })
				if i < 0 {
					t.Errorf("nobody has judged: %s", said)
					continue
				}
				found[known[i]] = true
			}
			for k, why := range want.right {
				if !found[k] {
					t.Errorf("not found: %s, which %s", k, why)
				}
			}
		})
	}
}

// TestPublicLegacy: image-builder's template is JSON from before HCL, beside HCL
// that only names plugins.
func TestPublicLegacy(t *testing.T) {
	_, err := Check(t.Context(), filepath.Join("testdata", "public", "image-builder"), Options{})
	if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.What, "from before HCL") || !strings.HasSuffix(f.Fix, "packer-windows.json") {
		t.Errorf("have %v", err)
	}
}
