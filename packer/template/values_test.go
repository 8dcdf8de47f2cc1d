package template

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

const (
	publicKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE4 image-team\n"
	privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
)

// valueFile writes a var-file with keys beside it. @ means their folder.
func valueFile(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"id.pub": publicKey, "id": privateKey, "empty.pub": "", "v.pkrvars.hcl": strings.ReplaceAll(text, "@", dir)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "v.pkrvars.hcl")
}

const good = `
vcenter_server       = "vc.example.com"
vcenter_username     = "packer@vsphere.local"
datacenter           = "DC0"
host                 = "esx1"
datastore            = "ds1"
network              = "VM Network"
iso_path             = "[ds1] windows.iso"
authorized_keys_file = "@/id.pub"
`

func renderWith(t *testing.T, text string) (*Folder, error) {
	t.Helper()
	v, err := ReadValues(valueFile(t, text))
	if err != nil {
		return nil, err
	}
	return Render(Options{Platform: "vsphere-iso", Payload: Payload{Reference: "quay.io/example/payload@" + digest, Digest: digest}, Values: v})
}

func TestValuesGoIntoTheFolder(t *testing.T) {
	f, err := renderWith(t, good+"cpus = \"8\"\naccept = [\"WIN004=service csi-proxy\"]\nadmin_password = \"Tr0ub4dor-and-3\"\n")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, file := range f.Files {
		if file.Path == "values.auto.pkrvars.hcl" {
			text = string(file.Data)
		}
		if strings.Contains(string(file.Data), "Tr0ub4dor") {
			t.Errorf("the password is in %s", file.Path)
		}
	}
	for _, part := range []string{`"vc.example.com"`, "cpus                 = 8", "id.pub"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
}

func TestValuesRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"missing":         {strings.Replace(good, "datastore ", "# ", 1), "no value for datastore"},
		"unknown":         {good + "datastroe = \"x\"\n", "vsphere-iso has no variable datastroe"},
		"short password":  {good + `admin_password = "Short1"`, "14 to 127 characters"},
		"simple password": {good + `admin_password = "abcdefghijklmnop"`, "upper case and digits"},
		"known password":  {good + `admin_password = "MyPassw0rdIsLong1"`, "everybody tries first"},
		"no key":          {strings.Replace(good, "/id.pub", "/absent.pub", 1), "a file with public SSH keys"},
		"empty key":       {strings.Replace(good, "/id.pub", "/empty.pub", 1), "a file with public SSH keys"},
		"private key":     {strings.Replace(good, "/id.pub", "/id", 1), "a file with public SSH keys"},
		"long host name":  {good + `host_name_prefix = "windows-worker-"`, "no more than 15"},
		"upper host name": {good + `host_name_prefix = "WIN-"`, "lower case letters"},
		"no checksum":     {good + `iso_url = "https://example.com/a.iso"`, "iso_url and iso_checksum: both"},
		"weak checksum":   {good + `iso_checksum = "md5:0123456789abcdef0123456789abcdef"`, "has to be sha256"},
		"zip without sum": {good + `openssh_zip = "@/OpenSSH-Win64.zip"`, "openssh_zip and openssh_sha256: both"},
		"language":        {good + `language = "de-DE"`, "en-US alone"},
		"type":            {good + `cpus = "many"`, "cpus has to be number"},
		"list":            {good + `boot_command = "x"`, "boot_command has to be list(string)"},
		"no ISO":          {strings.Replace(good, "iso_path ", "# ", 1), "iso_path or iso_url: one of them"},
		"empty ISO":       {strings.Replace(good, "[ds1] windows.iso", "", 1), "iso_path or iso_url: one of them"},
		"nowhere":         {strings.Replace(good, "host ", "# ", 1), "cluster or host: one of them"},
		"TPM with BIOS":   {good + "vtpm = true\nfirmware = \"bios\"", "a TPM needs EFI"},
		"Windows image":   {good + `windows_image = "Windows Server 2019 SERVERSTANDARDCORE"`, "windows_image names another Windows than Windows Server 2022"},
		"desktop Windows": {good + `windows_image = "Windows 11 Pro"`, "windows_image names another Windows than Windows Server 2022"},
		"build of 2019":   {good + `os_build = "17763.1"`, "such as 20348.681"},
		"update":          {good + `accept_missing_updates = ["5007651"]`, "KB numbers such as KB5007651"},
		"updates":         {good + `updates = "wsus"`, "one of windows-update, none"},
		"few":             {good + `cpus = 1`, "cpus has to be 2 at least"},
		"firmware":        {good + `firmware = "uefi"`, "one of efi-secure, efi, bios"},
		"not HCL":         {"cpus = = 1", "can't be read"},
		"reference":       {"cpus = var.x", "can't be read"},
		"block":           {"x {\n}\n", "can't be read"},
		"accept":          {good + `accept = ["WIN4"]`, "IDs such as image.windows.evaluation or WIN004"},
		"datastore path":  {strings.Replace(good, "[ds1] ", "", 1), "such as [datastore] folder/file.iso"},
		"boot wait":       {good + `boot_wait = "soon"`, "such as 2s"},
		"markup":          {good + `time_zone = "<a/>"`, "can't be empty nor have"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := renderWith(t, c.text)
			var f *fault.Error
			if !errors.As(err, &f) || !strings.Contains(f.What, c.want) {
				t.Fatalf("want %q, have %v", c.want, err)
			}
			if f.Fix == "" || !strings.Contains(f.Where, "v.pkrvars.hcl") {
				t.Errorf("no fix or no place: %v", err)
			}
		})
	}
}

// TestFixes: a value that people get wrong comes back with what fixes it.
func TestFixes(t *testing.T) {
	for text, want := range map[string]string{
		good + "datastroe = \"x\"\n":                         "did you mean datastore?",
		good + "colour = \"x\"\n":                            "leave it out",
		good + `cpus = "many"`:                               "write it as 4",
		good + `disk_mb = "big"`:                             "write it as 131072",
		good + `memory_mb = null`:                            "write it as 16384",
		good + `admin_password = "Short1"`:                   "openssl rand",
		strings.Replace(good, "/id.pub", "/absent.pub", 1):   "ssh-keygen -y -f KEY > KEY.pub",
		strings.Replace(good, "/id.pub", "/id", 1):           "ssh-keygen -y -f KEY > KEY.pub",
		good + `host_name_prefix = "windows-worker-"`:        `host_name_prefix = "win-"`,
		good + `iso_url = "https://example.com/windows.iso"`: "sha256sum FILE",
	} {
		_, err := renderWith(t, text)
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.Fix, want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

// A password isn't shown, whatever is wrong with it.
func TestRefusedSecretsArentShown(t *testing.T) {
	_, err := renderWith(t, good+`admin_password = "hunter2"`)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("have %v", err)
	}
}

func TestNoValueFile(t *testing.T) {
	_, err := ReadValues(filepath.Join(t.TempDir(), "x.hcl"))
	var f *fault.Error
	if !errors.As(err, &f) || f.What != "there is no such var-file" {
		t.Errorf("have %v", err)
	}
}

// FuzzReadValues: any file is read or refused with a fault, and never more.
func FuzzReadValues(f *testing.F) {
	f.Add([]byte("a = 1\nb = [\"x\"]\n"))
	f.Add([]byte("a = \"${x}\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "v.pkrvars.hcl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := ReadValues(path)
		var e *fault.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%q: %v isn't a fault", data, err)
		}
		if err == nil {
			_, _ = Render(Options{Platform: "qemu", WithoutPayload: true, Values: v})
		}
	})
}

// anyText are variables whose values only the place itself knows.
var anyText = []string{
	"cluster", "host", "folder", "resource_pool", "snapshot", "content_library", "more_networks", // names in vCenter
	"iso_url", "verify_exe", // Packer and the plugin open them
	"boot_command", // keys
	"export_directory", "no_proxy",
	"net_bridge", // of a hypervisor
	// Names and secrets of clouds.
	"gallery", "network", "subnetwork", "client_secret", "network_project_id", "network_tags", "service_account_email",
	"profile", "security_group_ids", "temporary_security_group_source_cidrs", "iam_instance_profile", "kms_key_id", "ami_users",
	"build_resource_group_name", "build_key_vault_name", "virtual_network_name", "virtual_network_subnet_name", "virtual_network_resource_group_name", "allowed_inbound_ip_addresses",
	"authorized_keys_file", "ca_certificates_file", // conditions of the folder: rules don't know where it is
}

// TestEveryVariableIsValidated: what Packer would only find out after an hour,
// it finds out at once.
func TestEveryVariableIsValidated(t *testing.T) {
	seen := map[string]bool{}
	for name, f := range everyFolder(t) {
		for _, v := range f.Variables {
			seen[v.Name] = true
			if free := slices.Contains(anyText, v.Name); v.Type != "bool" && len(v.Rules) == 0 && !free {
				t.Errorf("%s: variable %s takes anything", name, v.Name)
			}
		}
	}
	for _, name := range anyText {
		if !seen[name] {
			t.Errorf("there is no variable %s", name)
		}
	}
}

// TestSeveralFiles: the last file that gives a variable decides, and what is
// wrong with a value is said of its own file.
func TestSeveralFiles(t *testing.T) {
	base := valueFile(t, good+"cpus = 1\n")
	more := filepath.Join(t.TempDir(), "more.pkrvars.hcl")
	render := func(text string) (*Folder, error) {
		t.Helper()
		if err := os.WriteFile(more, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := ReadValues(base, more)
		if err != nil {
			t.Fatal(err)
		}
		return Render(Options{Platform: "vsphere-iso", WithoutPayload: true, Values: v})
	}
	f, err := render("# no value\ncpus = 6\n")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Files, func(f File) bool { return f.Path == "values.auto.pkrvars.hcl" })
	if text := string(f.Files[i].Data); !strings.Contains(text, "cpus                 = 6") || !strings.Contains(text, "From v.pkrvars.hcl, more.pkrvars.hcl") {
		t.Errorf("have\n%s", text)
	}
	for text, want := range map[string]string{"memory_mb = 4096\n": base + ":", "cpus = \"few\"\n": more + ":1:8"} {
		_, err := render(text)
		var e *fault.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Where, want) || !strings.Contains(e.Excerpt, "cpus") {
			t.Errorf("want an error at %s, have %v", want, err)
		}
	}
}

// TestFormOfJSON: a var-file in JSON isn't to be written in HCL.
func TestFormOfJSON(t *testing.T) {
	name := filepath.Join(t.TempDir(), "v.pkrvars.json")
	if err := os.WriteFile(name, []byte(`{"cpus": 4`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ReadValues(name)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Fix != `write {"NAME": "value", ...}` {
		t.Errorf("have %v", err)
	}
}
