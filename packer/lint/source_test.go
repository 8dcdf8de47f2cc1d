package lint

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestBuildSources: what a build adds to a source is the source's, and each
// use is judged by itself.
func TestBuildSources(t *testing.T) {
	const sum = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	template := `
source "vsphere-iso" "base" {
  communicator = "winrm"
  boot_order   = "disk,cdrom"
  iso_url      = "https://example.com/a.iso"
}
source "vsphere-iso" "unused" {
  communicator = "winrm"
}
build {
  source "vsphere-iso.base" {
    name          = "good"
    guest_os_type = "windows2019srvNext_64Guest"
    firmware      = "efi-secure"
    iso_checksum  = "` + sum + `"
  }
  source "source.vsphere-iso.base" {
    name          = "bad"
    guest_os_type = "windowsBogus"
    iso_checksum  = "none"
    password      = "hunter2"
    additional_iso_files {
      iso_url      = "https://example.com/b.iso"
      iso_checksum = "none"
    }
  }
}
`
	dir := writeFiles(t, map[string]string{"w.pkr.hcl": template})
	r, err := Check(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"vsphere-iso.good", "vsphere-iso.bad", "vsphere-iso.unused"}; !slices.Equal(r.Sources, want) {
		t.Errorf("sources %v, want %v", r.Sources, want)
	}
	for where, want := range map[[2]string]finding.Severity{
		{"template.guest-id", "vsphere-iso.good"}:                finding.Pass,
		{"template.firmware", "vsphere-iso.good"}:                finding.Pass,
		{"template.iso", "vsphere-iso.good"}:                     finding.Pass,
		{"template.guest-id", "vsphere-iso.bad"}:                 finding.Block,
		{"template.iso", "vsphere-iso.bad"}:                      finding.Block,
		{"template.iso", "vsphere-iso.bad.additional_iso_files"}: finding.Block,
		{"template.secret", "vsphere-iso.bad.password"}:          finding.Block,
		{"template.guest-id", "vsphere-iso.unused"}:              finding.Block,
	} {
		i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.ID == where[0] && f.Object == where[1] })
		if i < 0 {
			t.Errorf("nothing of %v", where)
		} else if r.Findings[i].Severity != want {
			t.Errorf("%v is %s, want %s", where, r.Findings[i].Severity, want)
		}
	}
	if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Object == "vsphere-iso.base" }) {
		t.Errorf("the source that nothing builds as it is was judged: %+v", r.Findings)
	}
	line := lineAt([]byte(template), strings.Index(template, "windowsBogus"))
	for _, f := range r.Findings {
		if f.ID == "template.guest-id" && f.Object == "vsphere-iso.bad" && !slices.Equal(f.Evidence, at("w.pkr.hcl", line)) {
			t.Errorf("evidence %v, want line %d", f.Evidence, line)
		}
	}
}

// A source that is built as it is, too, is judged as it is, too.
func TestBuildSourceBesideItsBase(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"a.pkr.hcl": "source \"null\" \"base\" {\n}\nlocals {\n  all = [\"source.null.base\"]\n}\n",
		"b.pkr.hcl": "build {\n  sources = local.all\n}\nbuild {\n  source \"null.base\" {\n    name = \"more\"\n    ssh_password = \"hunter2\"\n  }\n}\n"})
	r, err := Check(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"null.base", "null.more"}; !slices.Equal(r.Sources, want) {
		t.Errorf("sources %v, want %v", r.Sources, want)
	}
	for _, f := range r.Findings {
		if f.ID == "template.secret" && !slices.Equal(f.Evidence, at("b.pkr.hcl", 7)) {
			t.Errorf("evidence %v is of another file", f.Evidence)
		}
	}
}

// A check whose context has ended says so, and judges nothing.
func TestCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := writeFiles(t, map[string]string{"w.pkr.hcl": "source \"null\" \"w\" {\n}\n"})
	if r, err := Check(ctx, dir, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}

// TestSourcesOfLinux: what is no Windows isn't judged as one, where another source is. What
// doesn't say what it is, is.
func TestSourcesOfLinux(t *testing.T) {
	const windows = "source \"vsphere-iso\" \"w\" {\n  guest_os_type = \"windows2019srvNext_64Guest\"\n  password = \"\"\n}\n"
	build := func(of string, steps ...string) string {
		return "build {\n  sources = [\"source.vsphere-iso.w\", \"source." + of + "\"]\n" + strings.Join(steps, "\n") + "\n}\n"
	}
	for name, c := range map[string]struct {
		kind, label, body string
		steps             []string
		linux             bool
	}{
		"Azure":                   {"azure-arm", "a", "  os_type = \"Linux\"", nil, true},
		"Azure's publisher":       {"azure-arm", "a", "  image_publisher = \"Canonical\"\n  image_offer = \"ubuntu-24_04-lts\"", nil, true},
		"an AMI's filter":         {"amazon-ebs", "a", "  source_ami_filter {\n    filters = {\n      name = \"RHEL-9.4*\"\n    }\n    owners = [\"309956199498\"]\n  }", nil, true},
		"Amazon's own":            {"amazon-ebs", "a", "  source_ami_filter {\n    filters = {\n      name = \"al2023-ami-*\"\n    }\n  }", nil, true},
		"a user":                  {"amazon-ebs", "a", "  source_ami = \"ami-1\"\n  ssh_username = \"ec2-user\"", nil, true},
		"Google":                  {"googlecompute", "a", "  source_image_family = \"rocky-linux-9\"", nil, true},
		"a guest":                 {"vsphere-iso", "a", "  guest_os_type = \"otherLinux64Guest\"", nil, true},
		"an ISO":                  {"qemu", "a", "  iso_url = \"https://example.com/windows/debian-12-amd64.iso\"\n  iso_checksum = \"none\"", nil, true},
		"Proxmox":                 {"proxmox-iso", "a", "  os = \"l26\"", nil, true},
		"a template":              {"vsphere-clone", "a", "  template = var.base", nil, true},
		"a label":                 {"vsphere-clone", "linux-builder", "  template = \"golden/base\"", nil, true},
		"steps of Linux":          {"qemu", "a", "  ssh_username = \"root\"", []string{"  provisioner \"shell\" {\n    only = [\"qemu.a\"]\n    valid_exit_codes = [0, 1]\n    inline = [\"true\"]\n  }", "  provisioner \"powershell\" {\n    except = [\"qemu.a\"]\n    inline = [\"exit 0\"]\n  }"}, true},
		"nothing said":            {"qemu", "a", "", nil, false},
		"shell alone":             {"qemu", "a", "", []string{"  provisioner \"shell\" {\n    inline = [\"true\"]\n  }"}, false},
		"steps of Windows":        {"qemu", "a", "  ssh_username = \"root\"", []string{"  provisioner \"powershell\" {\n    inline = [\"exit 0\"]\n  }"}, false},
		"WinRM":                   {"qemu", "linux", "  communicator = \"winrm\"", nil, false},
		"Windows in another name": {"azure-arm", "linux", "  image_offer = \"WindowsServer\"\n  os_type = \"Linux\"", nil, false},
		"Proxmox's Windows":       {"proxmox-iso", "debian", "  os = \"win11\"", nil, false},
		"a label of Windows":      {"vsphere-clone", "base_win2022", "  template = \"rocky/linux\"", nil, false},
		"a folder of that name":   {"vsphere-clone", "a", "  template = \"linux/base\"", nil, false},
		"a mirror of that name":   {"qemu", "a", "  iso_url = \"https://ubuntu.example.com/server.iso\"", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			variables := "variable \"base\" {\n  default = \"Templates/ubuntu-2404\"\n}\n"
			other := "source \"" + c.kind + "\" \"" + c.label + "\" {\n" + c.body + "\n  password = \"hunter2\"\n}\n"
			of := c.kind + "." + c.label
			r, err := Check(t.Context(), writeFiles(t, map[string]string{"w.pkr.hcl": variables + windows + other + build(of, c.steps...)}), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if linux := slices.Contains(r.Linux, of); linux != c.linux || slices.Contains(r.Sources, of) == c.linux {
				t.Errorf("of Linux %v, of Windows %v", r.Linux, r.Sources)
			}
			judged := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
				return f.Severity > finding.Info && (f.ID != "template.secret" && f.ID != "template.plugin" && strings.HasPrefix(f.Object, of) || strings.Contains(f.Observed, ", for "+of))
			})
			if judged == c.linux {
				t.Errorf("judged: %t, %+v", judged, r.Findings)
			}
			if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
				return f.ID == "template.secret" && f.Object == of+".password"
			}) {
				t.Error("its password isn't found")
			}
			// Alone it is what was asked for.
			alone := check(t, writeFiles(t, map[string]string{"w.pkr.hcl": variables + other}), Options{})
			if !slices.ContainsFunc(alone, func(f finding.Finding) bool { return f.ID == "template.sysprep" && f.Severity > finding.Info }) {
				t.Errorf("alone it isn't judged: %+v", alone)
			}
		})
	}
}
