package wanted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// fixture is the expectation of this versions.yaml, and the file in it.
func fixture(t *testing.T) (*node.Expectation, []verify.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "versions.yaml")
	text := `apiVersion: winbake.dev/v1
release: "4.20"
go: local
components:
  - name: csi-proxy
    module: github.com/kubernetes-csi/csi-proxy
    version: v1.3.0
    package: ./cmd/csi-proxy
    payload: csi-proxy/csi-proxy.exe
    install: 'C:\k\csi-proxy.exe'
services:
  - name: csi-proxy
    component: csi-proxy
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := pins.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := file.Component("csi-proxy")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Expectation(file, []Built{{Component: c, Stamps: map[string]string{"main.version": "v1.3.0"}, SHA256: sum, Size: 7}},
		func(service, what string) { t.Errorf("%s: %s", service, what) })
	if err != nil {
		t.Fatal(err)
	}
	e.Kept = []payload.KeptFile{{Path: "kept.exe", SHA256: sum, Size: 9, Base: "sha256:" + sum}}
	return e, []verify.File{{Path: "kept.exe", SHA256: sum, Size: 9}, {Path: "csi-proxy/csi-proxy.exe", SHA256: sum, Size: 7}, {Path: "other.exe", SHA256: sum, Size: 8}}
}

func encoded(t *testing.T, e *node.Expectation) string {
	t.Helper()
	data, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExpectationHasWhatTheCatalogKnows(t *testing.T) {
	e, _ := fixture(t)
	s := e.Services[0]
	if len(s.Pipes) < 5 || s.Log != `C:\var\log\csi-proxy\csi-proxy.log` || s.Version != "v1.3.0" || e.Files[0].Version != "v1.3.0" || e.Release != "4.20" {
		t.Errorf("%+v", e)
	}
}

func TestCheckGood(t *testing.T) {
	e, files := fixture(t)
	for _, want := range []*node.Expectation{e, nil} {
		if fs := Check("node.json", []byte(encoded(t, e)), files, nil, want); len(fs) != 1 || fs[0].ID != Tree || fs[0].Severity != finding.Pass {
			t.Errorf("%+v", fs)
		}
	}
	if fs := Check("node.json", nil, files, nil, nil); fs != nil {
		t.Errorf("an image that says nothing of nodes: %+v", fs)
	}
}

func TestCheckTampered(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string // in node.json
		id       string
		says     string
	}{
		"missing":            {"", "", Missing, "no such file"},
		"another sum":        {sum, strings.Repeat("f", 64), Differs, "ffff"},
		"another size":       {`"size": 7`, `"size": 8`, Differs, "8 bytes"},
		"another file":       {`"payload": "csi-proxy/`, `"payload": "csi/`, Differs, "no such file in the payload"},
		"a kept file's size": {`"size": 9`, `"size": 10`, Differs, "10 bytes"},
		"another kept file":  {`"payload": "kept.exe`, `"payload": "gone.exe`, Differs, "no such file in the payload"},
		"not kept":           {`"payload": "kept.exe`, `"payload": "other.exe`, NotPinned, "it is listed"},
		"another base":       {`"base": "sha256:0`, `"base": "sha256:1`, NotPinned, "base: "},
		"another place":      {`C:\\k\\csi-proxy.exe"`, `C:\\temp\\csi-proxy.exe"`, NotPinned, `path: "C:\\temp\\csi-proxy.exe"`},
		"another argument":   {"--v=2", "--v=9", NotPinned, "arguments: "},
		"another account":    {`"start": "automatic"`, `"start": "automatic", "account": "joe"`, Malformed, `"joe" needs a password`},
		"start":              {`"start": "automatic"`, `"start": "disabled"`, NotPinned, `start: "disabled"`},
		"one pipe less":      {`,` + "\n" + `        "\\\\.\\pipe\\csi-proxy-volume-v1"`, ``, NotPinned, "pipes: "},
		"another version":    {`"version": "v1.3.0"`, `"version": "v1.2.0"`, NotPinned, `version: "v1.2.0"`},
		"another service":    {`"name": "csi-proxy"`, `"name": "csiproxy"`, NotPinned, "it is listed"},
		"no service":         {`"services": [`, `"services": [], "x": [`, Malformed, "unknown field"},
		"another release":    {`"release": "4.20"`, `"release": "4.21"`, NotPinned, "release 4.21"},
		"a duplicate file":   {`"files": [`, `"files": [{"component":"x","path":"C:\\K\\CSI-proxy.exe","payload":"other.exe","sha256":"` + sum + `","size":8},`, Malformed, "two files"},
		"a file more":        {`"files": [`, `"files": [{"component":"x","path":"C:\\Windows\\x.exe","payload":"other.exe","sha256":"` + sum + `","size":8},`, NotPinned, "it is listed"},
		"a key more":         {`"release"`, `"run": "x", "release"`, Malformed, "unknown field"},
		"something behind":   {"\n}\n", "\n}\n{}", Malformed, "follows"},
		"an older reader's":  {"node/v1", "node/v2", Malformed, "apiVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			e, files := fixture(t)
			text := encoded(t, e)
			bad := strings.Replace(text, c.from, c.to, 1)
			data := []byte(bad)
			if c.from == "" {
				data = nil
			} else if bad == text {
				t.Fatalf("%q isn't in\n%s", c.from, text)
			}
			for _, f := range Check("winbake/node.json", data, files, nil, e) {
				if f.ID == c.id && strings.Contains(f.Observed, c.says) && f.Severity == finding.Block && f.Why != "" && f.Remedy != "" && f.Expected != "" {
					return
				}
			}
			t.Errorf("want %s with %q, got %+v", c.id, c.says, Check("winbake/node.json", data, files, nil, e))
		})
	}
}

func TestStampedVersion(t *testing.T) {
	for want, stamps := range map[string]map[string]string{
		"v1":  {"main.version": "v1", "k8s.io/component-base/version.gitVersion": "v2"},
		"v2":  {"k8s.io/component-base/version.gitVersion": "v2", "main.gitVersion": "v3"},
		"v3":  {"main.gitVersion": "v3", "example.com/x/version.Version": "v4"},
		"v4":  {"example.com/x/version.Version": "v4", "k8s.io/client-go/pkg/version.gitVersion": "v5"},
		"v6":  {"example.com/driver.BuildVersion": "v6"},
		"":    {"k8s.io/client-go/pkg/version.gitVersion": "v5", "example.com/x.Commit": "abc"},
		"v07": {"a/version.gitVersion": "v07", "b/version.gitVersion": "v08"},
	} {
		if got := stampedVersion(stamps); got != want {
			t.Errorf("%v: %q, want %q", stamps, got, want)
		}
	}
}
