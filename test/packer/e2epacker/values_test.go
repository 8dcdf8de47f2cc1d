//go:build e2e

package e2epacker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	checksum = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	zeroGUID = "00000000-0000-0000-0000-000000000000"
	// password is nobody's: it's what the validation of a password takes.
	password = "Tr0ub4dor-and-3"
)

// values are what each platform's mandatory variables are given; @ means
// a folder with a public key and what virtio-win.iso holds.
var values = map[string]string{
	"vsphere-iso":   vcenter + "iso_path = \"[ds] windows.iso\"\n",
	"vsphere-clone": vcenter + "template = \"base\"\n",
	"azure-arm": `subscription_id = "` + zeroGUID + `"
tenant_id = "` + zeroGUID + `"
client_id = "` + zeroGUID + `"
location = "eastus"
resource_group = "images"
gallery = "nodes"
`,
	"amazon-ebs":    "region = \"us-east-1\"\nskip_credential_validation = true\n",
	"googlecompute": "project_id = \"p\"\nzone = \"us-central1-a\"\n",
	"qemu":          iso + "virtio_dir = \"@\"\n",
}

const iso = "iso_url = \"https://example.com/windows.iso\"\niso_checksum = \"" + checksum + "\"\n"

const vcenter = `vcenter_server = "vc.example.com"
vcenter_username = "packer@vsphere.local"
datacenter = "DC0"
host = "esx1"
datastore = "ds1"
network = "VM Network"
`

// secrets come from the environment, as the READMEs say.
var secrets = []string{
	"PKR_VAR_vcenter_password=hunter2", "PKR_VAR_admin_password=" + password, "PKR_VAR_client_secret=hunter2",
	"AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x",
}

// writeValues writes a var-file of a platform, and what it names.
func writeValues(t *testing.T, platform string) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"vioscsi", "NetKVM"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.ReplaceAll(values[platform]+"authorized_keys_file = \"@/id.pub\"\n", "@/", dir+"/")
	text = strings.ReplaceAll(text, `= "@"`, `= "`+dir+`"`)
	for name, content := range map[string]string{
		"virtio-win-guest-tools.exe": "", "ca.pem": "-----BEGIN CERTIFICATE-----\n", "id": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
		"id.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE4 image-team\n", "v.pkrvars.hcl": text,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "v.pkrvars.hcl")
}
