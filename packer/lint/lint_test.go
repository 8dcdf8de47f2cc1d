package lint

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// said is what is found of a template, a line each, of one rule or of all. The first
// line of the template may name a profile.
func said(t *testing.T, path, rule string) string {
	t.Helper()
	var o Options
	if text, err := os.ReadFile(path); err == nil && bytes.HasPrefix(text, []byte("# profile: ")) {
		first, _, _ := strings.Cut(string(text), "\n")
		o.Profile = strings.TrimPrefix(first, "# profile: ")
	}
	r, err := Check(path, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.Findings {
		for _, r := range Rules() {
			if r.ID == f.ID && f.Severity > r.Severity && f.Severity != finding.Unknown {
				t.Errorf("%s of %s is %s, and the rule at worst %s", f.ID, f.Object, f.Severity, r.Severity)
			}
		}
		if f.Why == "" && f.Severity != finding.Pass || f.Remedy == "" && f.Severity != finding.Pass {
			t.Errorf("%s of %s has no reason or no remedy", f.ID, f.Object)
		}
		if f.Severity != finding.Pass && (rule == "" || f.ID == rule) {
			fmt.Fprintf(&b, "%s %s %s: %s; %s (%s)\n", f.Severity, f.ID, f.Object, f.Observed, f.Expected, strings.Join(f.Evidence, ", "))
		}
	}
	return strings.ReplaceAll(b.String(), filepath.Dir(path)+"/", "")
}

func compare(t *testing.T, have, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || have != string(want) {
		t.Errorf("%v, have\n%swant\n%s", err, have, want)
	}
}

// TestRules: each rule has templates in testdata, and beside each what the rule finds
// in it. At least one has nothing wrong.
func TestRules(t *testing.T) {
	for _, r := range Rules() {
		files, err := filepath.Glob(filepath.Join("testdata", strings.TrimPrefix(r.ID, "template."), "*.pkr.hcl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no templates, %v", r.ID, err)
		}
		passed, failed := false, false
		for _, file := range files {
			t.Run(file, func(t *testing.T) {
				have := said(t, file, r.ID)
				passed, failed = passed || have == "", failed || have != ""
				compare(t, have, strings.TrimSuffix(file, ".pkr.hcl")+".out")
			})
		}
		if !passed || !failed {
			t.Errorf("%s: one passes: %t, one fails: %t", r.ID, passed, failed)
		}
	}
}

// TestPublicTemplates: templates in the style of those that people publish, of the Windows
// Machine Config Operator's documentation, rgl/windows-vagrant and
// StefanScherer/packer-windows. Each line beside them was judged to be right.
func TestPublicTemplates(t *testing.T) {
	for _, name := range []string{"operator", "vagrant", "packer-windows"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", "public", name)
			compare(t, said(t, dir, ""), dir+".out")
		})
	}
}

func TestNoTemplate(t *testing.T) {
	empty := t.TempDir()
	inJSON := filepath.Join(t.TempDir(), "image.pkr.json")
	if err := os.WriteFile(inJSON, []byte(`{"build": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{
		"testdata/public/image-builder": {"templates in JSON are legacy and aren't read", "packer hcl2_upgrade -with-annotations testdata/public/image-builder/packer-windows.json"},
		filepath.Dir(inJSON):            {"templates in JSON are legacy and aren't read", "packer hcl2_upgrade -with-annotations " + inJSON},
		inJSON:                          {"templates in JSON are legacy and aren't read", "packer hcl2_upgrade -with-annotations " + inJSON},
		empty:                           {"there is no .pkr.hcl file", "bake template writes one"},
		"testdata/nothing":              {"there is no such folder", "check the path"},
		"lint.go":                       {"it is no .pkr.hcl file", "bake template writes one"},
	} {
		_, err := Check(path, Options{})
		if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(fix(err), want[1]) {
			t.Errorf("%s: %v, fix %q", path, err, fix(err))
		}
	}
}

// fix is what an error says to do.
func fix(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Fix
	}
	return ""
}

// TestBeside: what isn't read is told, and sources of Linux beside Windows' aren't judged.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"image.pkr.hcl": "source \"qemu\" \"windows\" {\n  iso_url = \"https://example.com/windows.iso\"\n}\n" +
			"source \"qemu\" \"other\" {\n  iso_url = \"https://example.com/ubuntu.iso\"\n  password = \"ubuntu\"\n}\n",
		"more.pkr.json": `{"source": {}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Check(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Sources, []string{"qemu.windows"}) || !slices.Equal(r.Linux, []string{"qemu.other"}) {
		t.Errorf("sources %q, of Linux %q", r.Sources, r.Linux)
	}
	found := map[string]finding.Severity{}
	for _, f := range r.Findings {
		found[f.ID+" "+f.Object] = f.Severity
	}
	if found["template.hcl more.pkr.json"] != finding.Unknown || found["template.iso qemu.windows"] != finding.Block || found["template.iso qemu.other"] != finding.Pass ||
		found["template.secret qemu.other.password"] != finding.Block {
		t.Errorf("have %v", found)
	}
}

// TestRetired: a rule that went has left its ID to nobody.
func TestRetired(t *testing.T) {
	for _, r := range Rules() {
		if slices.Contains(Retired, r.ID) {
			t.Errorf("%s is there and retired", r.ID)
		}
	}
}

// FuzzCheck: whatever is in a template and its answer file, Check ends.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.pkr.hcl")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("source \"qemu\" {\n}\nsource \"a\" \"b\" {\n  password = local.x.y[var.z]\n}\nbuild {\n  provisioner {\n  }\n  dynamic {\n  }\n  source {\n  }\n}\nvariable {\n}\nlocals {\n  x = local\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "w.pkr.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, profile := range Profiles() {
			if r, err := Check(dir, Options{Profile: profile}); err == nil && len(r.Findings) == 0 {
				t.Error("nothing is said")
			}
		}
	})
}
