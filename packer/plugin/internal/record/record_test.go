package record

import (
	"bytes"
	"os"
	"path/filepath"
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

func TestRoundTrip(t *testing.T) {
	m := manifest(t, "one")
	data, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(data, "m.json")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(back)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("%v\n%s\n%s", err, data, again)
	}
	if other := manifest(t, "two"); other.Digest != m.Digest {
		t.Errorf("the same content has the digests %s and %s", m.Digest, other.Digest)
	}
}

func TestParseRefuses(t *testing.T) {
	data, err := Encode(manifest(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(string) string{
		"was changed after it was written": func(s string) string { return strings.Replace(s, "bbbb", "cccc", 1) },
		"isn't a manifest of winbake-node": func(s string) string { return strings.Replace(s, `"os"`, `"system"`, 1) },
		"has apiVersion":                   func(s string) string { return strings.Replace(s, APIVersion, "winbake.dev/image/v9", 1) },
		"unexpected EOF":                   func(s string) string { return s[:len(s)/2] },
	} {
		_, err := Parse([]byte(change(string(data))), "m.json")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "m.json: ") {
			t.Errorf("want %q, have %v", want, err)
		}
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

func TestBind(t *testing.T) {
	name := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Sum(name)
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, "one")
	data, err := Encode(Bind(m, Artifact{Builder: "b", ID: "id", Files: []LocalFile{f}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"digest": "` + m.Digest + `"`, `"sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`, `"size": 3`, `"id": "id"`, `"payload": "sha256:aaaa`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
	if _, err := Sum(name + ".none"); err == nil {
		t.Error("a file that isn't there has a sum")
	}
}

// FuzzParse: what is read can be written, and is the same when it is read again.
func FuzzParse(f *testing.F) {
	m, err := New(Content{Files: []node.File{}, Services: []Service{}, Findings: []finding.Finding{}}, Build{Run: "r"})
	if err != nil {
		f.Fatal(err)
	}
	data, err := Encode(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("{}"))
	f.Add([]byte(`{"apiVersion":"winbake.dev/image/v1","digest":"sha256:0","content":{"findings":[{"severity":"BLOCK"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data, "m")
		if err != nil {
			return
		}
		out, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(out, "m"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
