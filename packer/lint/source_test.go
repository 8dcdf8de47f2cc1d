package lint

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/finding"
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
