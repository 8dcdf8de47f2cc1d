package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

// media: the ISO has a sum, CDs come before floppies, boot order is set.
func media(c *checker) {
	for _, s := range c.Sources {
		c.iso(s, s.Body, s.Name())
		for _, b := range s.Body.Blocks {
			if b.Type == "boot_iso" || b.Type == "additional_iso_files" {
				c.iso(s, b.Body, s.Name()+"."+b.Type)
			}
		}
		c.boot(s)
	}
}

func (c *checker) iso(s *block, b *hclsyntax.Body, object string) {
	const id = "template.iso"
	sum, st := c.Text(b, "iso_checksum")
	f := finding.Finding{Observed: "iso_checksum is " + quoted(sum), Expected: "sha256:...", Evidence: s.In(b, "iso_checksum", "iso_url", "iso_urls")}
	switch {
	case !c.Has(b, "iso_url") && !c.Has(b, "iso_urls"):
		c.lyingThere(s, b, object)
	case st == unknown && c.demanded(b, "iso_checksum"):
		c.pass(id, object, "iso_checksum is given at build time, in a form that the template checks")
	case st == unknown, sum == "" && len(c.openVariables(b, "iso_checksum")) > 0:
		c.untold(id, object, "iso_checksum is given at build time, and nothing demands one")
	case sum == "" || sum == "none":
		c.add(id, object, f)
	case strings.HasPrefix(sum, "md5:") || strings.HasPrefix(sum, "sha1:") || !strings.Contains(sum, ":") && len(sum) < 64:
		f.Severity, f.Why = finding.Warn, "files with the same MD5 or SHA-1 sum can be made"
		c.add(id, object, f)
	default:
		c.pass(id, object, sum)
	}
}

// lyingThere judges a source without a URL: its ISO is on the host or in the
// datastore, is given at build time, or there is none.
func (c *checker) lyingThere(s *block, b *hclsyntax.Body, object string) {
	const id = "template.iso"
	ofWindows, ofTools := c.isoPaths(b)
	open := c.openVariables(b, "iso_url", "iso_urls", "iso_paths", "iso_file")
	f := finding.Finding{Evidence: s.In(b, "iso_paths", "iso_file")}
	switch {
	case ofWindows:
		f.Severity, f.Observed = finding.Info, "an ISO that lies there already, whose sum Packer doesn't look at"
		f.Why, f.Remedy = "anyone who can write there decides what Windows the nodes run", "compare its sum by hand, or give iso_url and iso_checksum"
		c.add(id, object, f)
	case len(open) > 0 && c.insists(open):
		c.pass(id, object, "the ISO is given at build time, and the template demands one")
	case len(open) > 0:
		c.untold(id, object, "the ISO is given at build time: "+strings.Join(open, ", ")+" is empty")
	case ofTools && s.Labels[0] == "vsphere-iso" && b == s.Body:
		f.Observed, f.Expected = "VMware Tools' ISO alone", "Windows' ISO in iso_paths, or iso_url with iso_checksum"
		f.Why, f.Remedy = "there is no Windows to install", `iso_paths = ["[datastore] windows.iso", ...]`
		c.add(id, object, f)
	}
}

// isoPaths tells what ISOs a source takes from where they lie. One whose path
// isn't known counts as Windows'.
func (c *checker) isoPaths(b *hclsyntax.Body) (ofWindows, ofTools bool) {
	for _, name := range []string{"iso_paths", "iso_file"} {
		if !c.Has(b, name) {
			continue
		}
		v := c.Value(b.Attributes[name].Expr)
		ofWindows = ofWindows || !v.IsWhollyKnown()
		for _, path := range expression.Texts(v) {
			ofTools = ofTools || hclfolder.ToolsISO.MatchString(path)
			ofWindows = ofWindows || path != "" && !hclfolder.ToolsISO.MatchString(path)
		}
	}
	return ofWindows, ofTools
}

// openVariables are variables in these attributes whose value is empty: it
// stands for what somebody gives.
func (c *checker) openVariables(b *hclsyntax.Body, attributes ...string) []string {
	return slices.DeleteFunc(hclfolder.VariablesOf(b, attributes...), func(name string) bool {
		return c.Variables[name] == nil || !expression.IsEmpty(c.Context.Variables["var"].GetAttr(name))
	})
}

// insists reports whether the template can't be built while one of these
// variables is empty: its own validation refuses that, or a local that speaks of
// it can't be evaluated, at which packer validate ends.
func (c *checker) insists(variables []string) bool {
	speaks := func(e hclsyntax.Expression) bool {
		return slices.ContainsFunc(e.Variables(), func(t hcl.Traversal) bool {
			return t.RootName() == "var" && slices.Contains(variables, expression.Name(t))
		})
	}
	for _, e := range c.Locals {
		if speaks(e) && hclfolder.FunctionFails(e, c.Context) {
			return true
		}
	}
	for _, name := range variables {
		for _, inner := range c.Variables[name].Body.Blocks {
			if held, _ := c.Text(inner.Body, "condition"); inner.Type == "validation" && held == "false" {
				return true
			}
		}
	}
	return false
}

// demanded reports whether an attribute is a variable without a default that
// its own validation holds to a form.
func (c *checker) demanded(b *hclsyntax.Body, attribute string) bool {
	return slices.ContainsFunc(hclfolder.VariablesOf(b, attribute), func(name string) bool {
		v := c.Variables[name]
		return v != nil && v.Body.Attributes["default"] == nil && slices.ContainsFunc(v.Body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == "validation" })
	})
}

// floppy is the attribute that gives a machine one, "" for none.
func (c *checker) floppy(s *block) string {
	for _, name := range []string{"floppy_files", "floppy_dirs", "floppy_content", "floppy_img_path"} {
		if c.Has(s.Body, name) {
			return name
		}
	}
	return ""
}

func (c *checker) hasFloppy() bool {
	return slices.ContainsFunc(c.Sources, func(s *block) bool { return c.floppy(s) != "" })
}

// What presses no key in a boot_command, and media that don't ask for one: an ISO
// with efisys_noprompt.bin, and disks.
var (
	pause    = regexp.MustCompile(`(?i)<wait[^>]*>|\s`)
	noPrompt = regexp.MustCompile(`(?i)no[-_]?prompt|\.(vhdx?|vmdk|qcow2|img)$`)
)

// unanswered reports whether nobody presses a key where Windows' CD asks for one.
func (c *checker) unanswered(s *block) bool {
	if image, _ := c.Text(s.Body, "disk_image"); image == "true" || !slices.Contains(fromMedium, s.Labels[0]) {
		return false
	}
	for _, name := range []string{"iso_url", "iso_urls", "iso_paths", "iso_file", "boot_command"} {
		a := s.Body.Attributes[name]
		if a == nil {
			continue
		}
		v := c.Value(a.Expr)
		if text := strings.Join(expression.Texts(v), " "); name == "boot_command" && (!v.IsWhollyKnown() || pause.ReplaceAllString(text, "") != "") ||
			slices.ContainsFunc(expression.Texts(v), noPrompt.MatchString) {
			return false
		}
	}
	return true
}

// boot: without a boot_order, vsphere-iso has disk before cdrom.
func (c *checker) boot(s *block) {
	const id = "template.boot"
	order, _ := c.Text(s.Body, "boot_order")
	floppy := c.floppy(s)
	if cd := strings.Index(order, "cdrom"); s.Labels[0] == "vsphere-iso" && cd >= 0 && cd < strings.Index(order, "disk") {
		c.add(id, s.Name(), finding.Finding{Observed: "boot_order = " + quoted(order), Expected: `"disk,cdrom"`, Evidence: s.At("boot_order")})
	}
	if efi, _ := c.isEFI(s); efi && c.unanswered(s) {
		c.add(id, s.Name(), finding.Finding{Observed: "EFI, and boot_command presses no key", Expected: "a key in the first seconds", Evidence: s.At("boot_command"),
			Why: `EFI asks to "press any key to boot from CD or DVD", and passes on to the empty disk when nobody does`, Remedy: `boot_wait = "2s" and boot_command = ["<spacebar><wait><spacebar><wait><spacebar>"]`})
	}
	if floppy != "" {
		f := finding.Finding{Severity: finding.Info, Observed: floppy, Expected: "cd_content or cd_files", Evidence: s.At(floppy),
			Why: "a floppy holds 1.4 MB, and machines of Hyper-V's generation 2 and QEMU's q35 have none", Remedy: "cd_content in place of floppy_files"}
		if efi, _ := c.isEFI(s); efi && s.Labels[0] == "hyperv-iso" {
			f.Severity, f.Why = finding.Warn, "machines of Hyper-V's generation 2 have no floppy"
		}
		c.add(id, s.Name(), f)
	}
	if slices.Contains(fromMedium, s.Labels[0]) {
		c.pass(id, s.Name(), "no floppy")
	}
}

// reach: how Packer gets in.
func reach(c *checker) {
	const id = "template.reach"
	for _, s := range c.Sources {
		evidence := s.At()
		communicator, st := c.Text(s.Body, "communicator")
		method, _ := c.Text(s.Body, "ssh_file_transfer_method")
		if (st == known && communicator == "ssh" || st == absent) && method != "sftp" && s.Labels[0] != "null" {
			c.add(id, s.Name(), finding.Finding{Observed: "files go by scp", Expected: "sftp", Evidence: evidence, Why: "the first upload hangs for minutes where sshd has no scp"})
		}
		if communicator == "none" && slices.ContainsFunc(c.Provisioners(s), func(p *block) bool { return !slices.Contains([]string{"shell-local", "breakpoint"}, p.Labels[0]) }) {
			c.add(id, s.Name(), finding.Finding{Severity: finding.Block, Observed: `communicator = "none", and there are provisioners`, Expected: `"ssh" or "winrm"`, Evidence: s.At("communicator"),
				Why: "no step of the build reaches the machine", Remedy: `communicator = "ssh"`})
		}
		if i := slices.IndexFunc(c.Provisioners(s), func(p *block) bool { return p.Labels[0] == "shell" && !c.Has(p.Body, "execute_command") }); i >= 0 && s.Labels[0] != "null" {
			c.add(id, s.Name(), finding.Finding{Observed: "provisioner shell", Expected: "powershell or windows-shell", Evidence: c.Provisioners(s)[i].At(),
				Why: "it starts /bin/sh, which Windows hasn't", Remedy: `provisioner "powershell"`})
		}
		if unencryptedWinRM(c, s, communicator) {
			c.add(id, s.Name(), finding.Finding{Observed: "WinRM over plain HTTP", Expected: "winrm_use_ssl = true", Evidence: s.At("winrm_use_ssl", "communicator"),
				Why: "the administrator's password and all that is done go over the network in the clear", Remedy: "winrm_use_ssl = true with a listener for HTTPS, or SSH"})
		}
		c.pass(id, s.Name(), cmp.Or(communicator, "a communicator given at build time"))
	}
}

// unencryptedWinRM reports whether Packer talks WinRM without encryption: NTLM encrypts
// what it says, and azure-arm brings a certificate.
func unencryptedWinRM(c *checker, s *block, communicator string) bool {
	if communicator != "winrm" {
		return false
	}
	for _, name := range []string{"winrm_use_ssl", "winrm_use_ntlm"} {
		if v, st := c.Text(s.Body, name); v == "true" || st == unknown {
			return false
		}
	}
	return true
}
