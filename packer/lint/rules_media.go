package lint

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/finding"
)

// media: the ISO has a sum, CDs come before floppies, boot order is set.
func media(c *checker) {
	for _, s := range c.sources {
		c.iso(s, s.Body, s.name())
		for _, b := range s.Body.Blocks {
			if b.Type == "boot_iso" || b.Type == "additional_iso_files" {
				c.iso(s, b.Body, s.name()+"."+b.Type)
			}
		}
		c.boot(s)
	}
}

func (c *checker) iso(s *block, b *hclsyntax.Body, object string) {
	const id = "template.iso"
	sum, st := c.text(b, "iso_checksum")
	line := lineOf(b, "iso_checksum", lineOf(b, "iso_url", s.line()))
	f := finding.Finding{Observed: "iso_checksum is " + quoted(sum), Expected: "sha256:...", Evidence: at(s.file, line)}
	switch {
	case !c.has(b, "iso_url") && !c.has(b, "iso_urls"):
		if c.has(b, "iso_paths") || c.has(b, "iso_file") {
			f.Severity, f.Observed, f.Expected = finding.Info, "an ISO that lies there already, whose sum Packer doesn't look at", ""
			f.Why, f.Remedy = "whoever can write there decides what Windows the nodes run", "compare its sum by hand, or give iso_url and iso_checksum"
			c.add(id, object, f)
		}
	case st == unknown && c.demanded(b, "iso_checksum"):
		c.pass(id, object, "iso_checksum is given at build time, in a form that the template checks")
	case st == unknown:
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

// ofVariable reports whether an attribute's value is a variable's: an empty
// default then stands for what somebody gives.
func (c *checker) ofVariable(b *hclsyntax.Body, attribute string) bool {
	a := b.Attributes[attribute]
	return a != nil && slices.ContainsFunc(a.Expr.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "var" })
}

// demanded reports whether an attribute is a variable without a default that
// its own validation holds to a form.
func (c *checker) demanded(b *hclsyntax.Body, attribute string) bool {
	a := b.Attributes[attribute]
	if a == nil {
		return false
	}
	for _, t := range a.Expr.Variables() {
		if t.RootName() != "var" || len(t) < 2 {
			continue
		}
		if v := c.variables[traversed(t)]; v != nil && v.Body.Attributes["default"] == nil {
			for _, inner := range v.Body.Blocks {
				if inner.Type == "validation" {
					return true
				}
			}
		}
	}
	return false
}

func (c *checker) boot(s *block) {
	const id = "template.boot"
	floppy := ""
	for _, name := range []string{"floppy_files", "floppy_dirs", "floppy_content", "floppy_img_path"} {
		if c.has(s.Body, name) {
			floppy = name
		}
	}
	switch {
	case floppy != "":
		c.add(id, s.name(), finding.Finding{Observed: floppy, Expected: "cd_content or cd_files", Evidence: at(s.file, lineOf(s.Body, floppy, s.line()))})
	case s.Labels[0] == "vsphere-iso" && !c.has(s.Body, "boot_order"):
		c.add(id, s.name(), finding.Finding{Observed: "no boot_order", Expected: `"disk,cdrom"`, Evidence: at(s.file, s.line())})
	case strings.HasSuffix(s.Labels[0], "-iso"), s.Labels[0] == "qemu":
		c.pass(id, s.name(), "no floppy")
	}
}

// reach: how Packer gets in, and whether it knows whom it talks to.
func reach(c *checker) {
	const id = "template.reach"
	for _, s := range c.sources {
		evidence := at(s.file, s.line())
		communicator, st := c.text(s.Body, "communicator")
		method, _ := c.text(s.Body, "ssh_file_transfer_method")
		insecure := ""
		for _, name := range []string{"insecure_connection", "insecure_skip_tls_verify"} {
			if v, _ := c.text(s.Body, name); v == "true" {
				insecure = name
			}
		}
		before := len(c.findings)
		if (st == known && communicator == "ssh" || st == absent) && method != "sftp" && s.Labels[0] != "null" {
			c.add(id, s.name(), finding.Finding{Observed: "files go by scp", Expected: "sftp", Evidence: evidence})
		}
		if insecure != "" {
			c.add(id, s.name(), finding.Finding{Observed: insecure + " = true", Expected: "false, or a variable that is false", Evidence: at(s.file, lineOf(s.Body, insecure, s.line())),
				Remedy: "have the host that runs Packer trust the certificate's issuer, and set " + insecure + " = false"})
		}
		if len(c.findings) == before {
			c.pass(id, s.name(), or(communicator, "a communicator given at build time"))
		}
	}
}
