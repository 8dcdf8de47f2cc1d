//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/wine/winenode"
)

const password = "Korrekt-Pferd-Batterie-7"

// scripts are those of an image for OpenShift on vSphere, in their order.
var scripts = []string{"ready", "windows-release", "no-runtime", "company", "vmware-tools", "tools-conf", "extend-disk", "updates", "updates", "updates", "updates-left",
	"windows-version", "features", "openssh", "firewall", "ssh-access", "node-settings", "clean", "seal", "generalize"}

// templated is the build of what bake template writes for a platform.
func templated(t testing.TB, platform string, more ...string) (*build, *center) {
	t.Helper()
	return templatedIn(t, setting{platform: platform}, more...)
}

// templatedIn is that in a setting of its own.
func templatedIn(t testing.TB, in setting, more ...string) (*build, *center) {
	t.Helper()
	n, v := site(t, in)
	n.Password = password
	b := newBuild(t, packer.Packers[0], n, packer.Plugin("vsphere"))
	m := tools(t)
	b.dir = filepath.Join(b.dir, "image")
	cmd := exec.Command(filepath.Join(m.dir, "bake"), append([]string{"template", in.platform, "--out", b.dir, "--payload", m.layout, "--release", "4.20"}, more...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bake template: %v\n%s", err, out)
	}
	key := filepath.Join(t.TempDir(), "key.pub")
	if err := os.WriteFile(key, []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPxk someone@example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	b.vars = map[string]string{
		"image_name": "golden", "image_version": "1", "ip_settle_timeout": "1s", "vcenter_server": v.Addr, "vcenter_username": vcenter.User, "vcenter_insecure": "true", "datacenter": vcenter.Datacenter, "host": vcenter.Host,
		"datastore": vcenter.Datastore, "network": vcenter.Network, "authorized_keys_file": key, "ssh_port": port, "connect_timeout": "3m", "accept": vcenter.AcceptImage(),
	}
	if in.platform == "vsphere-iso" { // the simulator types no keys
		b.vars["iso_path"], b.vars["boot_command"] = "["+vcenter.Datastore+"] windows.iso", "[]"
	} else {
		b.vars["template"] = original
	}
	b.p.Env = []string{"PKR_VAR_vcenter_password=" + vcenter.Password, "PKR_VAR_admin_password=" + password}
	n.Expect(t, vcenter.Scripts...)
	return b, v
}

// TestImageFromClone: what an image team runs, from bake template to a template
// in vCenter.
func TestImageFromClone(t *testing.T) {
	t.Parallel()
	b, v := templated(t, "vsphere-clone")
	b.image(v, b.must())
}

// image checks all that a good build leaves.
func (b *build) image(v *center, out string) {
	b.t.Helper()
	if all := v.machines(); !all["golden-1"] || len(all) != 2 {
		b.t.Errorf("vCenter has the machines %v\n%s", all, out)
	}
	// Windows Server 2022, by vSphere's own name for it.
	if m := v.machine("golden-1"); m.On || m.GuestID != "windows2019srvNext_64Guest" {
		b.t.Errorf("the template is %+v", m)
	}
	m := b.manifest("golden-1.node.json")
	b.matches(m)
	var made struct {
		Builds []struct {
			ID   string            `json:"artifact_id"`
			Run  string            `json:"packer_run_uuid"`
			Data map[string]string `json:"custom_data"`
		}
	}
	if err := json.Unmarshal(b.read("golden-1.packer.json"), &made); err != nil {
		b.t.Fatal(err)
	}
	if one := made.Builds; len(one) != 1 || one[0].ID != "golden-1" || one[0].Run != m.Build.Run || one[0].Data["payload"] != m.Content.Payload || one[0].Data["node_manifest"] != "golden-1.node.json" {
		b.t.Errorf("Packer's manifest has %+v", one)
	}
	if ran := b.ran(); !slices.Equal(ran, scripts) {
		b.t.Errorf("the scripts ran as %v, want %v", ran, scripts)
	}
	if env := b.environment(len(scripts) - 1); !strings.Contains(env, `\System32\Sysprep\sysprep.exe`) || !strings.Contains(env, "/generalize /oobe /quit") {
		b.t.Errorf("the last script wasn't told to run sysprep: %s", env)
	}
	calls := v.guest.Shutdowns()
	if last := calls[len(calls)-1]; !strings.HasPrefix(last, "/s") {
		b.t.Errorf("the machine was shut down by %v", calls)
	}
	if strings.Contains(out, password) {
		b.t.Error("the build prints the password")
	}
	b.leftNothing()
}

var scriptFile = regexp.MustCompile(`(?i)c:/Windows/Temp/(script|packer-elevated-shell)-[0-9a-f-]+\.ps1`)

// ran are the names of the scripts that PowerShell was called with, in order,
// by comparing what was uploaded with the template's own.
func (b *build) ran() []string {
	b.t.Helper()
	own := map[string]string{}
	files, err := filepath.Glob(filepath.Join(b.dir, "scripts", "*.ps1"))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.t.Fatal(err)
		}
		own[string(data)] = strings.TrimSuffix(filepath.Base(f), ".ps1")
	}
	var names []string
	for _, c := range b.node.Calls(b.t) {
		file := scriptFile.FindString(strings.Join(c.Args, " "))
		if file == "" {
			continue
		}
		data := b.onNode(file)
		if inner := scriptFile.Find(bytes.ReplaceAll(data, []byte("packer-elevated-shell"), nil)); inner != nil {
			data = b.onNode(string(inner)) // in a task of SYSTEM
		}
		name, known := own[string(data)]
		if !known {
			b.t.Errorf("the machine ran a script that isn't the template's:\n%s", data)
		}
		names = append(names, name)
	}
	return names
}

var environmentFile = regexp.MustCompile(`(?i)c:/Windows/Temp/packer-ps-env-vars-[0-9a-f-]+\.ps1`)

// environment is what the nth script was given.
func (b *build) environment(nth int) string {
	b.t.Helper()
	for _, c := range b.node.Calls(b.t) {
		line := strings.Join(c.Args, " ")
		if scriptFile.FindString(line) == "" {
			continue
		}
		if nth--; nth < 0 {
			return string(b.onNode(environmentFile.FindString(line)))
		}
	}
	b.t.Error("so many scripts didn't run")
	return ""
}

// TestImageFromISO: the same from an installation medium. The simulator types
// no keys and installs nothing: its machine has the guest from the start.
func TestImageFromISO(t *testing.T) {
	t.Parallel()
	b, v := templated(t, "vsphere-iso")
	out := b.must()
	b.image(v, out)
	// The simulator gives a clone no notes.
	if m := v.machine("golden-1"); m.Firmware != "efi" || !strings.Contains(m.Notes, tools(t).digest) {
		t.Errorf("the template is %+v", m)
	}
	if !strings.Contains(out, "Uploading") || !strings.Contains(out, "CD") {
		t.Errorf("no CD with the answer file was made:\n%s", out)
	}
}

// TestScriptFails: a script that ends with another code than 0 ends the build,
// nothing runs after it, and neither the machine nor its CD is left.
func TestScriptFails(t *testing.T) {
	for _, platform := range []string{"vsphere-clone", "vsphere-iso"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			b, v := templated(t, platform)
			b.node.Expect(t, winenode.Answer{Contains: []string{"-executionpolicy bypass"}, Stdout: "ready failed: the disk is full\r\n", Exit: 1})
			b.fails("ready failed: the disk is full", "Script exited with non-zero exit status: 1")
			if ran := slices.Compact(b.ran()); !slices.Equal(ran, scripts[:1]) { // it is retried
				t.Errorf("the scripts ran as %v", ran)
			}
			v.onlyOriginal()
			b.noRecord("golden-1")
		})
	}
}

// TestPayloadOfAnotherDigest: the template reads the payload before it makes a
// machine.
func TestPayloadOfAnotherDigest(t *testing.T) {
	t.Parallel()
	b, v := templated(t, "vsphere-clone")
	b.vars["payload"] = tools(t).bare
	b.fails("the payload has changed: its digest is sha256:", "the build is held to "+tools(t).digest)
	v.onlyOriginal()
	b.noRecord("golden-1")
	if calls := b.node.Calls(t); len(calls) > 0 {
		t.Errorf("the machine ran %v", calls)
	}
}

// noRecord: a build that failed says nothing of an image.
func (b *build) noRecord(name string) {
	b.t.Helper()
	for _, f := range []string{name + ".node.json", name + ".packer.json"} {
		if _, err := os.Stat(filepath.Join(b.dir, f)); err == nil {
			b.t.Errorf("the build that failed left %s", f)
		}
	}
}
