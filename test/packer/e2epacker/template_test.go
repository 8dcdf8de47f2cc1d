//go:build e2e

package e2epacker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/builder"
	"github.com/winbake/winbake/packer/template"
	"github.com/winbake/winbake/test/packer"
)

// folders writes every template below one folder and returns their names.
func folders(t *testing.T, parent string) map[string]template.Options {
	t.Helper()
	all := map[string]template.Options{}
	for _, p := range template.Platforms() {
		for _, profile := range template.Profiles() {
			for _, w := range template.Releases() {
				all[fmt.Sprintf("%s-%s-%s", p.Name, profile, w)] = template.Options{Platform: p.Name, Profile: profile, Windows: w,
					Payload: template.Payload{Reference: "quay.io/example/payload@" + checksum, Digest: checksum}}
			}
		}
		all[p.Name+"-none"] = template.Options{Platform: p.Name, WithoutPayload: true}
		all[p.Name+"-cluster-api"] = template.Options{Platform: p.Name, Profile: template.Generic, CloudbaseInit: true,
			ExtraScripts: []template.ExtraScript{{Moment: template.BeforeUpdates, Name: "before.ps1"}, {Moment: template.AfterUpdates, Name: "after.cmd"}},
			Payload:      template.Payload{Reference: "quay.io/example/payload@" + checksum, Digest: checksum}}
	}
	for name, o := range all {
		f, err := template.Render(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := template.Write(t.Context(), filepath.Join(parent, name), f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestFormat: packer fmt finds nothing to do, in any folder.
func TestFormat(t *testing.T) {
	parent := t.TempDir()
	folders(t, parent)
	for _, tool := range packer.Packers {
		p := packer.New(t, tool)
		if out, err := p.Run(t.Context(), parent, "fmt", "-check", "-diff", "-recursive", "."); err != nil {
			t.Errorf("packer %s fmt: %v\n%s", p.Version, err, out)
		}
	}
}

// eachPlatform returns a Packer for each platform, which has its plugin and, where
// own is not "", ours: each run asks every plugin that is installed.
func eachPlatform(t *testing.T, tool packer.Tool, own string) map[string]*packer.Packer {
	t.Helper()
	byPlugin, byPlatform := map[string]*packer.Packer{}, map[string]*packer.Packer{}
	for _, b := range builder.Builders() {
		p := byPlugin[b.Plugin.Name]
		if p == nil {
			p = packer.New(t, tool, packer.Plugin(b.Plugin.Name))
			p.Env = secrets
			if own != "" {
				p.Install(t, own, packer.OwnSource)
			}
			byPlugin[b.Plugin.Name] = p
		}
		byPlatform[b.Name] = p
	}
	return byPlatform
}

// TestValidate: Packer, each platform's plugin and our own take every template
// as it is written; the oldest Packer takes one of each platform. Most of a run is Packer
// starting plugins and asking them: several runs share the processors.
func TestValidate(t *testing.T) {
	own, err := packer.Own(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, tool := range packer.Packers {
		t.Run("packer-"+tool.Version, func(t *testing.T) {
			packers := eachPlatform(t, tool, own)
			parent := t.TempDir()
			for name, o := range folders(t, parent) {
				if i > 0 && !o.CloudbaseInit { // they have most in them
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					validate(t, packers[o.Platform], filepath.Join(parent, name), o)
				})
			}
		})
	}
}

func validate(t *testing.T, p *packer.Packer, dir string, o template.Options) {
	args := []string{"validate", "-var-file=" + writeValues(t, o.Platform)}
	if o.CloudbaseInit {
		msi := filepath.Join(t.TempDir(), "cloudbase-init.msi") // Packer looks whether it is there
		if err := os.WriteFile(msi, []byte("an installer"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-var=cloudbase_init_msi="+msi, "-var=cloudbase_init_sha256="+strings.TrimPrefix(checksum, "sha256:"))
	}
	out, err := p.Run(t.Context(), dir, append(args, ".")...)
	if err != nil || !strings.Contains(out, "The configuration is valid.") || strings.Contains(out, "Warning") || strings.Contains(out, password) {
		t.Errorf("packer %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestChoices validates what variables switch: firmware, communicator, TPM.
func TestChoices(t *testing.T) {
	packers := eachPlatform(t, packer.Packers[0], "")
	parent := t.TempDir()
	folders(t, parent)
	for _, c := range [][]string{
		{"vsphere-iso", "-var=communicator=winrm", "-var=firmware=bios"},
		{"vsphere-iso", "-var=vtpm=true", "-var=iso_path=", "-var=iso_url=https://example.com/a.iso", "-var=iso_checksum=" + checksum, "-var=boot_command=[]"},
		{"vsphere-clone", "-var=communicator=winrm", "-var=linked_clone=true", "-var=updates=none", "-var=accept_missing_updates=[\"KB5007651\"]"},
		{"qemu", "-var=firmware=bios", "-var=accelerator=tcg", "-var=windows_image=2"},
		{"qemu", "-var=vtpm=true", "-var=communicator=winrm", "-var=product_key=AAAAA-BBBBB-CCCCC-DDDDD-EEEEE"},
		{"azure-arm", "-var=use_azure_cli_auth=false", "-var=gallery="},
		{"azure-arm", "-var=virtual_network_name=v", "-var=virtual_network_subnet_name=s", "-var=virtual_network_resource_group_name=g", "-var=private_virtual_network_with_public_ip=true", "-var=build_resource_group_name=b", "-var=build_key_vault_name=k"},
		{"azure-arm", "-var=allowed_inbound_ip_addresses=[\"10.0.0.0/8\"]"},
		{"googlecompute", "-var=vtpm=false", "-var=network=n", "-var=subnetwork=s", "-var=network_project_id=p", "-var=network_tags=[\"t\"]", "-var=internal_ip=true", "-var=service_account_email=a@b"},
		{"googlecompute", "-var=use_iap=true"},
		{"amazon-ebs", "-var=vpc_id=vpc-0a", "-var=subnet_id=subnet-0a", "-var=security_group_ids=[\"sg-0a\"]", "-var=private_address=true", "-var=iam_instance_profile=p", "-var=kms_key_id=alias/k", "-var=ami_users=[\"123456789012\"]"},
		{"amazon-ebs", "-var=temporary_security_group_source_cidrs=[\"10.0.0.0/8\"]", "-var=image_version=7"},
		{"vsphere-iso", "-var=content_library=images", "-var=snapshot=base", "-var=more_networks=[\"a\",\"b\"]", "-var=folder=f", "-var=resource_pool=r", "-var=ip_wait_address=10.0.0.0/8"},
		{"vsphere-clone", "-var=export_directory=@/export", "-var=export_format=ovf", "-var=set_host_for_datastore_uploads=true"},
		{"vsphere-clone", "-var=proxy=http://proxy:3128", "-var=no_proxy=[\"10.*\"]", "-var=wsus_server=https://wsus:8531", "-var=ca_certificates_file=@/ca.pem", "-var=time_zone=W. Europe Standard Time", "-var=user_locale=en-GB"},
		{"qemu", "-var=net_bridge=br0"},
	} {
		t.Run(strings.Join(c, " "), func(t *testing.T) {
			t.Parallel()
			file := writeValues(t, c[0])
			args := []string{"validate", "-var-file=" + file}
			for _, a := range c[1:] {
				args = append(args, strings.Replace(a, "@/", filepath.Dir(file)+"/", 1))
			}
			if out, err := packers[c[0]].Run(t.Context(), filepath.Join(parent, c[0]+"-none"), append(args, ".")...); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestAnywhere: packer takes a folder by its name from any other, and finds what its
// values name relative to it.
func TestAnywhere(t *testing.T) {
	own, err := packer.Own(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	folders(t, parent)
	for _, tool := range packer.Packers {
		p := packer.New(t, tool, packer.Plugin("vsphere"))
		p.Install(t, own, packer.OwnSource)
		p.Env = secrets
		for _, name := range []string{"vsphere-iso-openshift-2022", "vsphere-clone-generic-2025"} {
			platform := name[:strings.LastIndex(name[:strings.LastIndex(name, "-")], "-")]
			if err := os.WriteFile(filepath.Join(parent, name, "id.pub"), []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE4 image-team\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := p.Run(t.Context(), parent, "validate", "-var-file="+writeValues(t, platform), "-var=authorized_keys_file=id.pub", name)
			if err != nil || !strings.Contains(out, "The configuration is valid.") {
				t.Errorf("Packer %s, %s: %v\n%s", p.Version, name, err, out)
			}
		}
	}
}

// TestRefused: what bake template can't know is refused by packer validate, in
// our words, and a secret isn't printed.
func TestRefused(t *testing.T) {
	packers := eachPlatform(t, packer.Packers[0], "")
	parent := t.TempDir()
	folders(t, parent)
	for name, c := range map[string]struct {
		platform string
		args     []string
		want     string
	}{
		"weak password":  {"vsphere-iso", []string{"-var=admin_password=Short1"}, "14 to 127 characters"},
		"known password": {"vsphere-iso", []string{"-var=admin_password=MyPassw0rdIsLong1"}, "everybody tries first"},
		"no key":         {"vsphere-iso", []string{"-var=authorized_keys_file=/nowhere.pub"}, "authorized_keys_file"},
		// Both rules say no, and Packer tells of the one that it comes to first.
		"private key":      {"vsphere-iso", []string{"-var=authorized_keys_file=@/id"}, "authorized_keys_file: it "},
		"host name":        {"vsphere-clone", []string{"-var=host_name_prefix=windows-worker-"}, "no more than 15"},
		"ISO without sum":  {"qemu", []string{"-var=iso_checksum=none"}, "sha256"},
		"no ISO sum":       {"vsphere-iso", []string{"-var=iso_url=https://example.com/a.iso"}, "iso_url and iso_checksum: both"},
		"TPM with BIOS":    {"vsphere-iso", []string{"-var=vtpm=true", "-var=firmware=bios"}, "a TPM needs EFI"},
		"no ISO":           {"vsphere-iso", []string{"-var=iso_path="}, "iso_path or iso_url: one of them"},
		"nowhere":          {"vsphere-clone", []string{"-var=host="}, "cluster or host: one of them"},
		"TPM, qemu's BIOS": {"qemu", []string{"-var=vtpm=true", "-var=firmware=bios"}, "a TPM needs EFI"},
		"zip without sum":  {"qemu", []string{"-var=openssh_zip=OpenSSH-Win64.zip"}, "openssh_zip and openssh_sha256: both"},
		"another Windows":  {"qemu", []string{"-var=windows_image=Windows Server 2019 SERVERSTANDARD"}, "another Windows than Windows Server 2022"},
		"two networks":     {"azure-arm", []string{"-var=virtual_network_name=v", "-var=allowed_inbound_ip_addresses=[\"10.0.0.0/8\"]"}, "virtual_network_name or allowed_inbound_ip_addresses: not both"},
		"key as CA":        {"qemu", []string{"-var=ca_certificates_file=@/id"}, "ca_certificates_file"},
		"proxy's password": {"qemu", []string{"-var=proxy=http://u:p@proxy:3128"}, "without a password"},
		"missing":          {"qemu", nil, "virtio_dir"},
		"tag":              {"qemu", []string{"-var=firmware=uefi"}, "one of efi-secure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := writeValues(t, c.platform)
			args := []string{"validate"}
			if c.args != nil {
				args = append(args, "-var-file="+file)
			}
			for _, a := range c.args {
				args = append(args, strings.Replace(a, "@", filepath.Dir(file), 1))
			}
			out, err := packers[c.platform].Run(t.Context(), filepath.Join(parent, c.platform+"-none"), append(args, ".")...)
			folded := strings.Join(strings.Fields(out), " ")
			if err == nil || !strings.Contains(folded, c.want) || strings.Contains(folded, "MyPassw0rd") {
				t.Errorf("want %q, have %v\n%s", c.want, err, out)
			}
		})
	}
}
