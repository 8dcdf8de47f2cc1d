package template

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestChecklist ties each row of the checklist for a golden image on vSphere to
// what does it in the template, or to the reason in docs/golden-image.md why
// nothing does. The rows are those of WMCO's documentation
// (docs/vsphere-golden-image.md, docs/vsphere_ci and
// docs/byoh-instance-pre-requisites.md of
// https://github.com/openshift/windows-machine-config-operator).
func TestChecklist(t *testing.T) {
	files := map[string]string{}
	for _, f := range mustRender(t, Options{Platform: "vsphere-iso", Payload: Payload{Reference: "quay.io/example/payload@" + digest, Digest: digest}}).Files {
		files[f.Path] = string(f.Data)
	}
	doc, err := os.ReadFile("../../docs/golden-image.md")
	if err != nil {
		t.Fatal(err)
	}
	files["doc"] = strings.Join(strings.Fields(string(doc)), " ")
	const image, vars, left = "image.pkr.hcl", "variables-rare.pkr.hcl", "answers/unattend.xml.pkrtpl"
	for _, row := range []struct {
		n        int
		requires string
		done     [][2]string // file, and what in it does the row
	}{
		{1, "Windows Server 2022, build 20348.681", [][2]string{{vars, `default\s+= "20348\.681"`}, {"scripts/windows-version.ps1", `\$have -lt \$want`}, {image, `WINBAKE_BUILD = var\.os_build`}, {image, `(?s)ready\.ps1.{1,300}windows-release\.ps1.*updates\.ps1.*windows-version\.ps1`}}},
		{2, "en-US", [][2]string{{vars, `var\.language == "en-US"`}, {"scripts/windows-release.ps1", `InstalledUICulture`}}},
		{3, "hardware version", [][2]string{{image, `vm_version\s+= var\.hardware_version`}, {vars, `var\.hardware_version >= 15`}}},
		{4, "VMware Tools 11.0.6, started by themselves", [][2]string{{"scripts/vmware-tools.ps1", `'11\.0\.6'`}, {"scripts/vmware-tools.ps1", `Set-Service -Name 'VMTools' -StartupType Automatic`}}},
		{5, "exclude-nics is empty", [][2]string{{"scripts/tools-conf.ps1", `'exclude-nics='`}, {"scripts/tools-conf.ps1", `\[guestinfo\]`}}},
		{6, "vCenter shows the address", [][2]string{{image, `ip_wait_timeout`}}},
		{7, "sshd and ssh-agent", [][2]string{{"scripts/openssh.ps1", `'OpenSSH\.Server~~~~0\.0\.1\.0'`}, {"scripts/ssh-access.ps1", `'sshd', 'ssh-agent'\) \{\s+Set-Service -Name \$name -StartupType Automatic`}}},
		{8, "administrators_authorized_keys and its ACL", [][2]string{{"scripts/ssh-access.ps1", `/inheritance:r.*S-1-5-32-544:F.*S-1-5-18:F`}, {"scripts/ssh-access.ps1", `-Encoding Ascii`}, {"scripts/ssh-access.ps1", `PubkeyAuthentication yes`}}},
		{9, "ports 10250, 9182 and 22", [][2]string{{"scripts/firewall.ps1", `10250`}, {"scripts/firewall.ps1", `9182`}, {"scripts/firewall.ps1", `Port = 22`}, {"scripts/firewall.ps1", `EdgeTraversalPolicy Allow`}}},
		{10, "no container runtime", [][2]string{{"scripts/no-runtime.ps1", `'docker', 'containerd'`}, {image, `(?s)no-runtime\.ps1.*updates\.ps1`}}},
		{11, "updates in rounds", [][2]string{{image, `(?s)(updates\.ps1.{1,200}windows-restart.{1,250}restarted\.ps1.*?){3}updates-left\.ps1`}}},
		{12, "generalized, with an answer file", [][2]string{{image, `/generalize /oobe /quit /quiet /unattend:`}, {"doc", `the generalized machine becomes the image and isn't started again`}}},
		{13, "answer file: nobody logs on, a password, nothing is asked", [][2]string{{left, `<Enabled>false</Enabled>`}, {left, `<AdministratorPassword>`}, {left, `<HideEULAPage>true`}, {left, `<SkipAutoActivation>true`}, {left, `<CEIPEnabled>0`}}},
		{14, "a host name of 15 lower case characters", [][2]string{{"scripts/host-name.ps1", `\{0,13\}\[a-z0-9\]`}, {vars, `\{0,9\}\$`}, {left, `host-name\.ps1`}}},
		{15, "DNS", [][2]string{{"doc", `names in DNS`}}},
		{16, "network", [][2]string{{image, `network_card = "vmxnet3"`}, {"doc", `which network a node is on`}}},
		{17, "IPv6 is off", [][2]string{{"doc", `IPv6 stays on: only WMCO's CI switches it off, and Microsoft tests no Windows without it`}}},
		{18, "static addresses", [][2]string{{"doc", `a static address`}}},
		{19, "a template", [][2]string{{image, `convert_to_template\s+= var\.content_library == ""`}, {"doc", `The MachineSet names it in` + " `providerSpec.value.template`"}}},
	} {
		for _, d := range row.done {
			text, there := files[d[0]]
			if !there || !regexp.MustCompile(d[1]).MatchString(text) {
				t.Errorf("row %d, %s: %s has nothing like %q", row.n, row.requires, d[0], d[1])
			}
		}
	}
}
