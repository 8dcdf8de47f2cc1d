package lint

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleReach = Rule{
	ID: "template.reach", Severity: finding.Block,
	Title:  "Packer gets in by means that Windows has, and knows whom it talks to",
	Why:    "the first upload hangs for minutes, or somebody else reads the passwords",
	Remedy: `ssh_file_transfer_method = "sftp"`,

	source: func(l *look, s *block) {
		if s.Kind() != "null" {
			l.network(s)
			l.trust(s)
		}
		l.communicator(s)
	},
}

// network: the machine has a card, and Windows a driver for it.
func (l *look) network(s *block) {
	f := finding.Finding{Severity: finding.Warn, Expected: "network_adapters", Evidence: s.At("network_adapters", "network", "net_device"),
		Why: "the machine has no network, and Packer waits for its address until it gives up", Remedy: `network_adapters { network = "..." network_card = "vmxnet3" }`}
	cards := hclfolder.Inner(s.Body, "network_adapters")
	switch {
	case s.Kind() == "vsphere-iso" && len(cards) == 0 && !l.Has(s.Body, "network_adapters") && !l.Has(s.Body, "network"):
		f.Observed = "no network_adapters"
		l.add(s.Name(), f)
	case s.Kind() == "vsphere-iso" && len(cards) > 0:
		if card, st := l.Text(cards[0], "network_card"); st == hclfolder.Absent || strings.HasPrefix(strings.ToLower(card), "e1000") {
			f.Severity, f.Observed, f.Expected = finding.Info, "network_card is e1000, which is the default", `"vmxnet3"`
			f.Why = "e1000 is an emulated card; vmxnet3 is made for virtual machines, and faster"
			l.add(s.Name(), f)
		}
	case l.needsVirtIO(s, "net_device") && !l.needsVirtIO(s, "disk_interface"):
		f.Observed, f.Expected, f.Remedy = "a network card of virtio, and no driver for it", `its driver in DriverPaths, or "e1000"`, `net_device = "e1000", or the folders of virtio-win in DriverPaths`
		l.add(s.Name(), f)
	}
}

// trust: Packer knows the server, and nothing goes over the network in the clear.
func (l *look) trust(s *block) {
	if off, _ := l.Text(s.Body, "insecure_connection"); off == "true" {
		l.add(s.Name(), finding.Finding{Severity: finding.Warn, Observed: "insecure_connection = true", Expected: "false, or a variable that is false", Evidence: s.At("insecure_connection"),
			Why: "any server that answers at its address is told the passwords", Remedy: "have the host that runs Packer trust the certificate's issuer, and set insecure_connection = false"})
	}
	if communicator, _ := l.Text(s.Body, "communicator"); communicator != "winrm" {
		return
	}
	ssl, st := l.Text(s.Body, "winrm_use_ssl")
	ntlm, ntlmState := l.Text(s.Body, "winrm_use_ntlm")
	if st != hclfolder.Unknown && ssl != "true" && ntlm != "true" && ntlmState != hclfolder.Unknown { // NTLM encrypts what it says
		l.add(s.Name(), finding.Finding{Severity: finding.Warn, Observed: "WinRM over plain HTTP", Expected: "winrm_use_ssl = true", Evidence: s.At("winrm_use_ssl", "communicator"),
			Why: "the administrator's password and all that is done go over the network in the clear", Remedy: "winrm_use_ssl = true with a listener for HTTPS, or SSH"})
	}
}

// communicator: it has to be one for Windows, where there are steps.
func (l *look) communicator(s *block) {
	communicator, st := l.Text(s.Body, "communicator")
	method, _ := l.Text(s.Body, "ssh_file_transfer_method")
	if (communicator == "ssh" || st == hclfolder.Absent) && method != "sftp" && s.Kind() != "null" {
		l.add(s.Name(), finding.Finding{Severity: finding.Warn, Observed: "files go by scp", Expected: "sftp", Evidence: s.At("communicator"), Why: "the first upload hangs for minutes where sshd has no scp"})
	}
	onMachine := func(p *block) bool { return p.Kind() != "shell-local" && p.Kind() != "breakpoint" }
	if communicator == "none" && slices.ContainsFunc(l.Provisioners(s), onMachine) {
		l.add(s.Name(), finding.Finding{Observed: `communicator = "none", and there are provisioners`, Expected: `"ssh" or "winrm"`, Evidence: s.At("communicator"),
			Why: "no step of the build reaches the machine", Remedy: `communicator = "ssh"`})
	}
}
