package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/packer/plugin/internal/image"
)

func TestPrepare(t *testing.T) {
	p := new(Provisioner)
	if err := p.Prepare(map[string]any{"payload": "layout", "packer_build_name": "windows", "start_timeout": "2m"}); err != nil {
		t.Fatal(err)
	}
	if c := p.config; c.Profile != "openshift" || c.Manifest != "windows.node.json" || c.StartTimeout != 2*time.Minute || c.StopTimeout != 20*time.Second {
		t.Errorf("%+v", c)
	}
	dir := t.TempDir()
	for want, raw := range map[string]map[string]any{
		"payload is missing":                       {},
		"digest can't be":                          {"payload": "x", "digest": "sha256:12"},
		"profile can't be":                         {"payload": "x", "profile": "byoh"},
		`accept has "WIN4", and no check has that`: {"payload": "x", "accept": []string{"WIN004=service csi-proxy", "WIN4"}},
		"verify_binary isn't a file":               {"payload": "x", "verify_binary": dir},
		"acept":                                    {"payload": "x", "acept": []string{}},
	} {
		if err := new(Provisioner).Prepare(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

func TestServer(t *testing.T) {
	for _, c := range []struct{ kind, addr, want string }{
		{"winrm", "10.0.0.1:8080", "http://10.0.0.1:8080"},
		{"winrm", "ERR_HTTP_ADDR_NOT_IMPLEMENTED_BY_BUILDER", ""},
		{"winrm", "10.0.0.1:0", ""},
		{"winrm", "", ""},
		{"ssh", "10.0.0.1:8080", ""},
	} {
		if got := server(map[string]any{"ConnType": c.kind, "PackerHTTPAddr": c.addr}); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := server(nil); got != "" {
		t.Errorf("%q", got)
	}
}

// A manifest of an earlier build is gone before anything can fail.
func TestEarlierManifestGoes(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("m.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := new(Provisioner)
	if err := p.Prepare(map[string]any{"payload": filepath.Join(t.TempDir(), "none"), "manifest": "m.json"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Provision(t.Context(), packersdk.TestUi(t), new(packersdk.MockCommunicator), nil); err == nil {
		t.Error("a payload that isn't there passes")
	}
	if _, err := os.Stat("m.json"); err == nil {
		t.Error("the earlier manifest is there")
	}
}

func TestJudge(t *testing.T) {
	s := &step{config: &Config{}, ui: packersdk.TestUi(t), image: &image.Image{Image: &deploy.Image{Reference: "payload@sha256:1"}}}
	one := func(sev finding.Severity) []finding.Finding {
		return []finding.Finding{{ID: "WIN004", Severity: sev, Object: "service csi-proxy", Observed: "nothing"}}
	}
	for _, sev := range []finding.Severity{finding.Pass, finding.Info, finding.Warn} {
		if err := s.judge(one(sev)); err != nil {
			t.Errorf("%s ends the build: %v", sev, err)
		}
	}
	for _, sev := range []finding.Severity{finding.Unknown, finding.Block} {
		if err := s.judge(one(sev)); err == nil || !strings.Contains(err.Error(), sev.String()+" WIN004 service csi-proxy: nothing") {
			t.Errorf("%s: %v", sev, err)
		}
	}
}

// What the machine didn't tell isn't in the manifest, neither as what it should
// be nor as something empty.
func TestUntoldIsNotRecorded(t *testing.T) {
	e := &node.Expectation{
		Files:    []node.File{{Path: `C:\k\a.exe`, SHA256: "wanted"}, {Path: `C:\k\b.exe`, SHA256: "wanted"}},
		Services: []node.Service{{Service: winsvc.Service{Name: "s"}}},
	}
	facts := &node.Facts{
		Files:    []node.FileFacts{{Path: `c:\k\A.exe`, SHA256: node.Say("found"), Size: 3}, {Path: `C:\k\b.exe`, SHA256: node.Unknown[string]("locked")}},
		Services: []node.ServiceFacts{{Name: "s", State: node.Say("running"), Configuration: node.Configuration{Command: node.Unknown[string]("denied")}}},
	}
	if got := files(e, facts); got[0].SHA256 != "found" || got[0].Size != 3 || got[1].SHA256 != "" {
		t.Errorf("%+v", got)
	}
	if got := services(e, facts)[0]; got.Command != nil || got.State == nil || *got.State != "running" {
		t.Errorf("%+v", got)
	}
}
