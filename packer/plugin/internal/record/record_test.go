package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/node"
)

func manifest(t *testing.T, run string) *Manifest {
	t.Helper()
	command := `C:\k\csi-proxy.exe -windows-service`
	m, err := New(Content{
		Payload: "sha256:" + strings.Repeat("a", 64), Release: "4.20", Profile: "openshift", OS: "10.0.20348.681",
		Files:    []node.File{{Component: "csi-proxy", Path: `C:\k\csi-proxy.exe`, Payload: "csi-proxy/csi-proxy.exe", SHA256: strings.Repeat("b", 64), Size: 7, Version: "v1.3.0"}},
		Services: []Service{{Name: "csi-proxy", Command: &command}},
		Findings: []finding.Finding{{ID: "WIN004", Severity: finding.Info, Object: "service csi-proxy", Accepted: "UNKNOWN"}},
	}, Build{Run: run, Name: "windows", Type: "null", Payload: "payload"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNew: the digest is of what is on the machine, and of nothing else.
func TestNew(t *testing.T) {
	m := manifest(t, "one")
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var back Manifest
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(&back, m) {
		t.Errorf("%v\n%+v\n%s", err, back, data)
	}
	if other := manifest(t, "two"); other.Digest != m.Digest || other.Build == m.Build {
		t.Errorf("the same content has the digests %s and %s", m.Digest, other.Digest)
	}
	back.Content.Files[0].SHA256 = strings.Repeat("c", 64)
	if other, err := New(back.Content, m.Build); err != nil || other.Digest == m.Digest {
		t.Errorf("another file has the same digest %s: %v", other.Digest, err)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "m.json")
	for _, text := range []string{"old", "new"} {
		if err := Write(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := Write(filepath.Join(dir, "none", "m.json"), nil); err == nil || !strings.Contains(err.Error(), "fix: ") {
		t.Errorf("%v", err)
	}
}
