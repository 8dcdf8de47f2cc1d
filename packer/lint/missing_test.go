package lint

import (
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestNotThere: files that a machine has before Packer comes in, and that aren't there.
func TestNotThere(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body string
		files      map[string]string
		object     string // "" where nothing is said
		severity   finding.Severity
	}{
		"a script":                        {"qemu", `cd_files = ["scripts/a.cmd"]`, map[string]string{"scripts/b.cmd": "ver\n"}, "scripts/a.cmd", finding.Block},
		"one beside the template":         {"qemu", `cd_files = ["./a.ps1"]`, nil, "a.ps1", finding.Block},
		"a floppy's":                      {"qemu", `floppy_files = ["a.ps1"]`, nil, "a.ps1", finding.Block},
		"by path.root":                    {"qemu", `cd_files = ["${path.root}/a.ps1"]`, nil, "a.ps1", finding.Block},
		"user data":                       {"amazon-ebs", `user_data_file = "./u.txt"`, nil, "u.txt", finding.Block},
		"Azure's":                         {"azure-arm", `custom_data_file = "u.ps1"`, nil, "u.ps1", finding.Block},
		"a script that is there":          {"qemu", `cd_files = ["scripts/a.cmd"]`, map[string]string{"scripts/a.cmd": "ver\n"}, "", 0},
		"a pattern":                       {"qemu", `cd_files = ["scripts/*.ps1"]`, map[string]string{"scripts/b.cmd": "ver\n"}, "scripts/*.ps1", finding.Warn},
		"a pattern that matches":          {"qemu", `cd_files = ["scripts/*.cmd"]`, map[string]string{"scripts/b.cmd": "ver\n"}, "", 0},
		"a folder of drivers":             {"qemu", `cd_files = ["drivers/NetKVM/*.sys", "drivers/vioscsi/*.sys"]`, nil, "drivers", finding.Info},
		"a program":                       {"qemu", `cd_files = ["tools.exe"]`, nil, "tools.exe", finding.Info},
		"somebody's key":                  {"qemu", `cd_files = ["authorized_keys"]`, nil, "authorized_keys", finding.Info},
		"Make makes it":                   {"qemu", `cd_files = ["a.ps1"]`, map[string]string{"Makefile": "a.ps1:\n\tm4 a.m4 > a.ps1\n"}, "a.ps1", finding.Info},
		"a form of it":                    {"qemu", `cd_files = ["a.xml"]`, map[string]string{"a.xml.tmpl": "<a/>"}, "a.xml", finding.Info},
		"Packer makes it":                 {"qemu", "cd_files = [\"a.ps1\"]\n}\nsource \"file\" \"f\" {\n  content = \"ver\"\n  target = \"a.ps1\"", nil, "a.ps1", finding.Info},
		"it comes from elsewhere":         {"qemu", `cd_files = ["tmp/a.ps1"]`, map[string]string{"scripts/a.ps1": "ver\n"}, "", 0},
		"a path that is given later":      {"qemu", "cd_files = [\"${var.a}/a.ps1\"]\n}\nvariable \"a\" {", nil, "", 0},
		"a path of the machine that runs": {"qemu", `cd_files = ["/usr/share/virtio-win/a.ps1"]`, nil, "", 0},
		"an address":                      {"qemu", `cd_files = ["https://example.com/a.ps1"]`, nil, "", 0},
	} {
		files := map[string]string{"w.pkr.hcl": sourced(c.kind, c.body)}
		for path, text := range c.files {
			files[path] = text
		}
		said := 0
		for _, f := range check(t, writeFiles(t, files), Options{}) {
			if f.ID != ruleScript || f.Severity == finding.Pass {
				continue
			}
			if said++; f.Object != c.object || f.Severity != c.severity {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if want := map[bool]int{true: 1}[c.object != ""]; said != want {
			t.Errorf("%s: %d findings, want %d", name, said, want)
		}
	}
}
