package pins

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestSetPin(t *testing.T) {
	const head = "# v1.0.0 in a comment stays\napiVersion: winbake.dev/v1\nrelease: \"4.20\"\ngo: \"1.26.8\"\ncomponents:\n"
	commit, other := strings.Repeat("ab", 20), strings.Repeat("cd", 20)
	sum, newSum := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for name, c := range map[string]struct{ before, value, after string }{
		"double quotes": {"  - name: x # one\n    module: a.b/c\n    version: \"v1.0.0\" # two\n    package: .\n    payload: x.exe\n", "v1.2.0",
			"  - name: x # one\n    module: a.b/c\n    version: \"v1.2.0\" # two\n    package: .\n    payload: x.exe\n"},
		"single quotes": {"  - name: x\n    module: a.b/c\n    version: 'v1.0.0'\n    package: .\n    payload: x.exe\n", "v1.2.0",
			"  - name: x\n    module: a.b/c\n    version: 'v1.2.0'\n    package: .\n    payload: x.exe\n"},
		"no quotes": {"  - name: x\n    module: a.b/c\n    version: v1.0.0\n    package: .\n    payload: x.exe\n", "v1.2.0",
			"  - name: x\n    module: a.b/c\n    version: \"v1.2.0\"\n    package: .\n    payload: x.exe\n"},
		"flow": {"  - {name: x, module: a.b/c, version: \"v1.0.0\", package: ., payload: x.exe}\n", "v1.2.0",
			"  - {name: x, module: a.b/c, version: \"v1.2.0\", package: ., payload: x.exe}\n"},
		"CRLF": {"  - name: x\r\n    module: a.b/c\r\n    version: \"v1.0.0\"\r\n    package: .\r\n    payload: x.exe\r\n", "v1.2.0",
			"  - name: x\r\n    module: a.b/c\r\n    version: \"v1.2.0\"\r\n    package: .\r\n    payload: x.exe\r\n"},
		"other component first": {"  - name: y\n    module: a.b/c\n    version: \"v1.0.0\"\n    package: .\n    payload: y.exe\n  - version: \"v1.0.0\"\n    name: x\n    module: a.b/c\n    package: .\n    payload: x.exe\n", "v1.2.0",
			"  - name: y\n    module: a.b/c\n    version: \"v1.0.0\"\n    package: .\n    payload: y.exe\n  - version: \"v1.2.0\"\n    name: x\n    module: a.b/c\n    package: .\n    payload: x.exe\n"},
		"wide characters": {"  - {name: x, install: 'C:\\ü→', module: a.b/c, version: \"v1.0.0\", package: ., payload: x.exe}\n", "v1.2.0",
			"  - {name: x, install: 'C:\\ü→', module: a.b/c, version: \"v1.2.0\", package: ., payload: x.exe}\n"},
		"commit": {"  - {name: x, git: /g, commit: " + commit + ", package: ., payload: x.exe}\n", other,
			"  - {name: x, git: /g, commit: " + other + ", package: ., payload: x.exe}\n"},
		"sha256": {"  - name: x\n    file: f\n    sha256: " + sum + "\n    payload: x\n", "sha256:" + newSum,
			"  - name: x\n    file: f\n    sha256: " + newSum + "\n    payload: x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SetPin("versions.yaml", []byte(head+c.before), "x", c.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != head+c.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, head+c.after)
			}
		})
	}
}

// A byte order mark is kept, and counts for no column.
func TestByteOrderMark(t *testing.T) {
	const head = "\ufeffapiVersion: winbake.dev/v1\nrelease: \"4.20\"\ngo: local\n"
	const list = "components: [{name: x, module: a.b/c, version: \"v1.0.0\", package: ., payload: x.exe}]\n"
	got, err := SetPin("v.yaml", []byte(head+list), "x", "v1.2.0")
	if want := head + strings.Replace(list, "v1.0.0", "v1.2.0", 1); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := SetPin("v.yaml", []byte(head+list), "y", "v1.2.0"); err == nil {
		t.Errorf("a pin that isn't there: %q", got)
	}
	if _, err := Parse("v.yaml", []byte("\ufeffapi: x\n")); err == nil || !strings.Contains(err.Error(), "v.yaml:1:1: unknown key \"api\" in") {
		t.Errorf("%v", err)
	}
}

func TestSetPinRefuses(t *testing.T) {
	src, err := os.ReadFile("../../../versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"nobody", "v1.0.0"}, {"csi-proxy", "1.3"}, {"csi-proxy", "v2.0.0"}, {"csi-proxy", "v1.3.0\"\nevil: true"}, {"containerd-config", "abc"}} {
		if _, err := SetPin("versions.yaml", src, c[0], c[1]); err == nil {
			t.Errorf("SetPin(%s, %q) is no error", c[0], c[1])
		}
	}
	old := bytes.ReplaceAll(src, []byte("\n"), []byte("\r")) // lines of YAML, and none of ours
	if _, err := SetPin("versions.yaml", old, "csi-proxy", "v1.3.1"); err == nil || !strings.Contains(err.Error(), "can't be changed in place") {
		t.Errorf("of lines that end in another way: %v", err)
	}
}

// Whatever is pinned, one value changes and no other byte.
func FuzzSetPin(f *testing.F) {
	src, err := os.ReadFile("../../../versions.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("v1.3.1")
	f.Add("v1.4.0-rc.1")
	f.Add("v1.0.0\n")
	f.Fuzz(func(t *testing.T, value string) {
		got, err := SetPin("versions.yaml", src, "csi-proxy", value)
		if err != nil {
			return
		}
		back, err := SetPin("versions.yaml", got, "csi-proxy", "v1.3.0")
		if err != nil || !bytes.Equal(back, src) {
			t.Errorf("%q can't be undone: %v", value, err)
		}
	})
}
