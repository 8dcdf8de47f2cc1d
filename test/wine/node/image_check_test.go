package node

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/imagecheck"
	expected "github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/test/support/answer"
)

// wineAnswers are the rows that Wine answers, and what it says of the faults of spoil,
// or without one. Three
// are of Wine's making: WinHTTP's proxy is that of the environment, no disk has a
// serial number, and there is no service for packages.
var wineAnswers = map[string]string{
	"image.left.dns":            `WARN NameServer=192.0.2.53`,
	"image.left.home-keys":      `WARN C:\Users\Public\.ssh\id_ed25519`,
	"image.left.hosts":          `WARN 192.0.2.10 mirror`,
	"image.left.logon":          `BLOCK AutoAdminLogon=1`,
	"image.left.proxy":          `WARN HTTP_PROXY=http://proxy.example.com:3128`,
	"image.left.winhttp":        `WARN proxy.example.com:3128`,
	"image.node.csi-proxy":      `BLOCK csiproxy`,
	"image.node.runtime":        `BLOCK containerd`,
	"image.node.workstation":    `BLOCK there is no service LanmanWorkstation`,
	"image.port.exporter":       `BLOCK closed on networks of the profile Domain, Private, Public`,
	"image.port.kubelet":        `PASS open on every network`,
	"image.port.ssh":            `BLOCK closed on networks of the profile Domain, Public`,
	"image.ssh.agent":           `WARN there is no service ssh-agent`,
	"image.ssh.config":          `BLOCK PubkeyAuthentication no`,
	"image.ssh.config-encoding": `PASS no UTF-16`,
	"image.ssh.host-keys":       `WARN C:\ProgramData\ssh\ssh_host_ed25519_key`,
	"image.ssh.keys":            `BLOCK no line of it is a public key`,
	"image.ssh.keys-access":     `BLOCK O:S-1-5-21-0-0-0-1000D:(A;;FA;;;SY)(A;;FA;;;S-1-5-21-0-0-0-1000)`,
	"image.ssh.keys-encoding":   `BLOCK UTF-16`,
	"image.ssh.sshd":            `BLOCK manual, stopped`,
	"image.sysprep.answers":     `WARN C:\Windows\Panther\unattend.xml`,
	"image.sysprep.appx":        `PASS there is no service AppXSvc, so no packages`,
	"image.sysprep.password":    `BLOCK C:\Windows\Panther\unattend.xml`,
	"image.sysprep.restart":     `BLOCK HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending`,
	"image.vmware.disk-uuid":    `WARN the disk has no serial number`,
	"image.vmware.exclude-nics": `BLOCK exclude-nics=vEthernet*`,
	"image.vmware.service":      `BLOCK there is no service VMTools`,
	"image.vmware.version":      `BLOCK C:\Program Files\VMware\VMware Tools\vmtoolsd.exe isn't there`,
	"image.windows.build":       `PASS 20348.2340`,
	"image.windows.evaluation":  `BLOCK ServerStandardEval`,
	"image.windows.language":    `PASS 0409`,
	"image.windows.page-file":   `PASS C:\pagefile.sys 27 77`,
	"image.windows.server":      `PASS Server Core`,
	"image.windows.tls":         `WARN switched off: Client`,
	"image.windows.updates":     `PASS manual`,
}

// wineSilent are the rows that Wine doesn't answer.
var wineSilent = []string{"image.sysprep.bitlocker", "image.windows.containers"}

// TestImageCheck runs the check on a Wine node with faults: which rows Wine answers is
// the exact list, and what it doesn't answer passes in no row.
func TestImageCheck(t *testing.T) {
	n := start(t)
	n.spoil()
	got, silent := map[string]string{}, []string{}
	for _, f := range n.checkImage(imagecheck.OpenShift, 3) {
		if !strings.HasPrefix(f.Observed, "Windows didn't answer") {
			got[f.ID] = f.Severity.String() + " " + f.Observed
			continue
		}
		silent = append(silent, f.ID)
		if f.Severity < finding.Warn {
			t.Errorf("%s has no answer and is %s", f.ID, f.Severity)
		}
	}
	if want := "WARN " + expected.Base(n.Home()); got["image.left.users"] != want {
		t.Errorf("the user is %q, want %q", got["image.left.users"], want)
	}
	delete(got, "image.left.users")
	for id, want := range wineAnswers {
		if got[id] != want {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("more rows are answered: %q", got)
	}
	slices.Sort(silent)
	if !slices.Equal(silent, wineSilent) {
		t.Errorf("no answer: %q, want %q", silent, wineSilent)
	}
	accept := []string{"--accept", "image.left.users"}
	for id := range wineAnswers {
		accept = append(accept, "--accept", id)
	}
	n.checkImage(imagecheck.OpenShift, 4, accept...)
}

// spoil makes the node what an image mustn't be, by what Windows itself would be
// changed with.
func (n node) spoil() {
	n.t.Helper()
	const (
		version  = `HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion`
		control  = `HKLM\SYSTEM\CurrentControlSet\Control`
		services = `HKLM\SYSTEM\CurrentControlSet\Services`
		rules    = services + `\SharedAccess\Parameters\FirewallPolicy\FirewallRules`
	)
	for _, args := range [][]string{
		{`HKLM\HARDWARE\DESCRIPTION\System\BIOS`, "SystemManufacturer", "REG_SZ", "VMware, Inc."},
		{version, "UBR", "REG_DWORD", "2340"},
		{version, "EditionID", "REG_SZ", "ServerStandardEval"},
		{version + `\Winlogon`, "AutoAdminLogon", "REG_SZ", "1"},
		{control + `\Session Manager\Environment`, "HTTP_PROXY", "REG_SZ", "http://proxy.example.com:3128"},
		{control + `\SecurityProviders\SCHANNEL\Protocols\TLS 1.2\Client`, "Enabled", "REG_DWORD", "0"},
		{services + `\Tcpip\Parameters\Interfaces\{1}`, "NameServer", "REG_SZ", "192.0.2.53"},
		{`HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending`, "x", "REG_SZ", ""},
		{rules, "ssh", "REG_SZ", "v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|Profile=Private|LPort=22|"},
		{rules, "kubelet", "REG_SZ", "v2.31|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=10250|"},
	} {
		n.mustWine("reg", "add", args[0], "/v", args[1], "/t", args[2], "/d", args[3], "/f")
	}
	for _, name := range []string{"containerd", "csiproxy", "sshd"} {
		n.mustWine("sc", "create", name, "binPath=", `C:\k\none.exe`)
	}
	utf16 := "s\x00s\x00h\x00"
	for path, text := range map[string]string{
		`C:\ProgramData\ssh\administrators_authorized_keys`: utf16,
		`C:\ProgramData\ssh\sshd_config`:                    "PubkeyAuthentication no\r\n",
		`C:\ProgramData\ssh\ssh_host_ed25519_key`:           "key",
		`C:\ProgramData\VMware\VMware Tools\tools.conf`:     "[guestinfo]\r\nexclude-nics=vEthernet*\r\n",
		`C:\Windows\Panther\unattend.xml`:                   "<Password><Value>secret</Value></Password>",
		`C:\Windows\System32\drivers\etc\hosts`:             "192.0.2.10 mirror\r\n",
		`C:\users\Public\.ssh\id_ed25519`:                   "key",
	} {
		if err := os.MkdirAll(filepath.Dir(n.host(path)), 0o755); err != nil {
			n.t.Fatal(err)
		}
		if err := os.WriteFile(n.host(path), []byte(text), 0o600); err != nil {
			n.t.Fatal(err)
		}
	}
}

func (n node) mustWine(args ...string) {
	n.t.Helper()
	if out, err := n.Wine(n.t.Context(), args...); err != nil {
		n.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// checkImage runs verify.exe as a template's last step before sysprep does.
func (n node) checkImage(profile string, want int, more ...string) []finding.Finding {
	n.t.Helper()
	exe := `C:\Windows\Temp\verify.exe`
	if err := n.Replace(tools(n.t)+"/verify.exe", exe); err != nil {
		n.t.Fatal(err)
	}
	out, err := n.Wine(n.t.Context(), slices.Concat([]string{exe, "node", "check", "--image", "--profile", profile, "-o", "json"}, more)...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		n.t.Fatal(err)
	}
	if code != want {
		n.t.Errorf("exit code %d, want %d: %v", code, want, err)
	}
	if err := answer.Fits("../../../docs/output.schema.json", out); err != nil {
		n.t.Error(err)
	}
	var d struct{ Findings []finding.Finding }
	if err := json.Unmarshal(out, &d); err != nil {
		n.t.Fatalf("%v\n%s", err, out)
	}
	return d.Findings
}
