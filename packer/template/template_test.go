package template

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/packer/answer"
)

var update = flag.Bool("update", false, "rewrite the golden folders and differences")

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// cases are every platform, profile and release of Windows; with them the
// image without node files.
func cases() map[string]Options {
	all := map[string]Options{}
	for _, p := range Platforms() {
		for _, profile := range Profiles() {
			for _, w := range Releases() {
				all[fmt.Sprintf("%s-%s-%s", p.Name, profile, w)] = Options{Platform: p.Name, Profile: profile, Windows: w,
					Payload: Payload{Reference: "quay.io/example/payload@" + digest, Digest: digest}, Release: "4.20"}
			}
		}
		all[p.Name+"-none"] = Options{Platform: p.Name, WithoutPayload: true}
	}
	own := all["vsphere-iso-generic-2022"]
	own.CloudbaseInit = true
	own.ExtraScripts = []ExtraScript{{BeforeUpdates, "before.ps1", []byte("exit 0\n")}, {AfterUpdates, "after.cmd", []byte("exit /b 0\n")}, {Last, "last.ps1", []byte("exit 0\n")}}
	all["vsphere-iso-cluster-api"] = own
	return all
}

// folders renders each case once: tests look at the same ones.
var folders = sync.OnceValues(func() (map[string]*Folder, error) {
	all := map[string]*Folder{}
	for name, o := range cases() {
		f, err := Render(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = f
	}
	return all, nil
})

func everyFolder(t *testing.T) map[string]*Folder {
	t.Helper()
	all, err := folders()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func mustRender(t *testing.T, o Options) *Folder {
	t.Helper()
	f, err := Render(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGolden compares every folder with testdata, which has one whole folder a platform:
// OpenShift's for Windows Server 2022. Others are there as their differences to it.
// Scripts are the same in all of them and are kept once.
func TestGolden(t *testing.T) {
	want := map[string][]byte{}
	all := everyFolder(t)
	for name, folder := range all {
		base := folder.Platform.Name + "-openshift-2022"
		if name != base {
			want[name+".diff"] = difference(folder.Platform.Name, all[base], name, folder)
		}
		for _, f := range folder.Files {
			if strings.HasPrefix(f.Path, "scripts/") {
				if other, seen := want[f.Path]; seen && !bytes.Equal(other, f.Data) {
					t.Errorf("%s: %s differs from another folder's", name, f.Path)
				}
				want[f.Path] = f.Data
			} else if name == base {
				want[path.Join(folder.Platform.Name, f.Path)] = f.Data
			}
		}
	}
	for name, data := range want {
		golden(t, filepath.Join("testdata", "golden", name), data)
	}
	err := fs.WalkDir(os.DirFS("testdata/golden"), ".", func(name string, d fs.DirEntry, err error) error {
		if _, known := want[name]; err != nil || d.IsDir() || known {
			return err
		}
		if *update {
			return os.Remove(filepath.Join("testdata", "golden", name))
		}
		t.Errorf("%s is a leftover: go test ./packer/template -update", name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// difference is how two folders differ: files of one alone, scripts by name, and
// lines.
func difference(oldName string, old *Folder, newName string, folder *Folder) []byte {
	before, after := map[string][]byte{}, map[string][]byte{}
	for _, f := range old.Files {
		before[f.Path] = f.Data
	}
	for _, f := range folder.Files {
		after[f.Path] = f.Data
	}
	paths := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(paths)
	var b bytes.Buffer
	for _, p := range slices.Compact(paths) {
		_, was := before[p]
		_, is := after[p]
		switch {
		case !is:
			fmt.Fprintf(&b, "Only in %s: %s\n", oldName, p)
		case !was && strings.HasPrefix(p, "scripts/"):
			fmt.Fprintf(&b, "Only in %s: %s\n", newName, p)
		default:
			b.Write(diff.Diff(path.Join(oldName, p), before[p], path.Join(newName, p), after[p]))
		}
	}
	return b.Bytes()
}

func golden(t *testing.T, place string, data []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(place, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(place)
	if err != nil {
		t.Fatalf("%v: go test ./packer/template -update", err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%s differs:\n%s", place, data)
	}
}

// TestHCL: every file is HCL as packer fmt leaves it, each variable is used,
// and nothing is referred to that isn't there.
func TestHCL(t *testing.T) {
	for name, f := range everyFolder(t) {
		var text strings.Builder
		for _, file := range f.Files {
			if !strings.HasSuffix(file.Path, ".hcl") {
				continue
			}
			if formatted := hclwrite.Format(file.Data); !bytes.Equal(formatted, file.Data) {
				t.Errorf("%s: %s isn't formatted", name, file.Path)
			}
			if _, diags := hclparse.NewParser().ParseHCL(file.Data, file.Path); diags.HasErrors() {
				t.Errorf("%s: %v", name, diags)
			}
			if file.Path == "image.pkr.hcl" {
				text.Write(file.Data)
			}
		}
		var declared []string
		for _, v := range f.Variables {
			declared = append(declared, v.Name)
			if !strings.Contains(text.String(), "var."+v.Name) {
				t.Errorf("%s: variable %s isn't used", name, v.Name)
			}
		}
		for _, m := range regexp.MustCompile(`var\.([a-z0-9_]+)`).FindAllStringSubmatch(text.String(), -1) {
			if !slices.Contains(declared, m[1]) {
				t.Errorf("%s: variable %s isn't declared", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`path\.root}/([A-Za-z./-]+)"`).FindAllStringSubmatch(text.String(), -1) {
			if !slices.ContainsFunc(f.Files, func(file File) bool { return file.Path == m[1] }) {
				t.Errorf("%s: there is no file %s", name, m[1])
			}
		}
	}
}

// TestVariables holds what every variable has to be.
func TestVariables(t *testing.T) {
	secretName := regexp.MustCompile(`password|secret|token|product_key`)
	for name, f := range everyFolder(t) {
		seen := map[string]bool{}
		for _, v := range f.Variables {
			switch {
			case seen[v.Name]:
				t.Errorf("%s: variable %s is there twice", name, v.Name)
			case v.Description == "" || v.Type == "":
				t.Errorf("%s: variable %s has no description or type", name, v.Name)
			case v.Sensitive && v.Default != "" && v.Default != `""`:
				t.Errorf("%s: secret %s has a default", name, v.Name)
			case secretName.MatchString(v.Name) && !v.Sensitive:
				t.Errorf("%s: %s is a secret and isn't sensitive", name, v.Name)
			}
			seen[v.Name] = true
			for _, r := range v.Rules {
				if r.Message[0] < 'A' || r.Message[0] > 'Z' || !strings.HasSuffix(r.Message, ".") {
					t.Errorf("%s: Packer refuses the message %q", name, r.Message)
				}
			}
		}
	}
}

func TestAnswerFiles(t *testing.T) {
	checked := 0
	for name, folder := range everyFolder(t) {
		for _, f := range folder.Files {
			if strings.HasPrefix(f.Path, "answers/") {
				checked++
				if found := answer.Check(f.Data, strings.HasSuffix(f.Path, "/unattend.xml.pkrtpl")); len(found) > 0 {
					t.Errorf("%s: %s: %+v", name, f.Path, found)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no answer file was found")
	}
}

// TestScripts: each is small, in strict mode, ends by saying how it ended, and has
// no function that it doesn't call.
func TestScripts(t *testing.T) {
	names, err := fs.Glob(sources, "scripts/*.ps1")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	used := map[string]bool{}
	for _, folder := range everyFolder(t) {
		for _, f := range folder.Files {
			used[f.Path] = true
		}
	}
	for _, path := range names {
		if !used[path] {
			t.Errorf("%s is in no template", path)
		}
		data, err := new(render).script(strings.TrimSuffix(filepath.Base(path), ".ps1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"Set-StrictMode -Version Latest\n", "$ErrorActionPreference = 'Stop'\n", "\ntrap {", "\nexit 0\n"} {
			if !bytes.Contains(data, []byte(part)) {
				t.Errorf("%s has no %q", path, part)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^function (\S+)`).FindAllSubmatch(data, -1) {
			if bytes.Count(data, m[1]) < 2 {
				t.Errorf("%s doesn't call its function %s", path, m[1])
			}
		}
		if bytes.Count(data, []byte("Start-Transcript")) != min(1, bytes.Count(data, []byte("Stop-Transcript"))) {
			t.Errorf("%s ends a transcript that it didn't begin, or the other way round", path)
		}
		if n := bytes.Count(data, []byte("\n")); n > 120 {
			t.Errorf("%s has %d lines", path, n)
		}
		if bytes.ContainsFunc(data, func(r rune) bool { return r > 126 }) {
			t.Errorf("%s isn't ASCII: Windows PowerShell reads it in the machine's code page", path)
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"platform":       {Options{Platform: "vsphere"}, `there is no platform "vsphere"`},
		"profile":        {Options{Platform: "vsphere-iso", Profile: "kubeadm"}, `--profile can't be "kubeadm"`},
		"windows":        {Options{Platform: "vsphere-iso", Windows: "2019"}, `--windows can't be "2019"`},
		"release":        {Options{Platform: "vsphere-iso", Release: "latest"}, `--release can't be "latest"`},
		"generic, none":  {Options{Platform: "vsphere-iso", Profile: Generic, WithoutPayload: true}, "no files without a payload"},
		"tag":            {Options{Platform: "vsphere-iso", Payload: Payload{Reference: "quay.io/x:1"}}, "has no digest"},
		"given and none": {Options{Platform: "vsphere-iso", WithoutPayload: true, Payload: Payload{"a", digest}}, "given and refused"},
		"cloudbase-init": {Options{Platform: "vsphere-iso", CloudbaseInit: true}, "cloudbase-init is for Cluster API"},
		"same script":    {Options{Platform: "vsphere-iso", ExtraScripts: []ExtraScript{{Last, "a.ps1", nil}, {BeforeUpdates, "A.ps1", nil}}}, "the same name"},
		"no platform":    {Options{}, `there is no platform ""`},
	} {
		_, err := Render(c.o)
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.What, c.want) || f.Fix == "" {
			t.Errorf("%s: want %q with a fix, have %v", name, c.want, err)
		}
	}
}

// The same options give the same bytes.
func TestDeterministic(t *testing.T) {
	again := cases()
	for name, a := range everyFolder(t) {
		b := mustRender(t, again[name])
		if !slices.EqualFunc(a.Files, b.Files, func(x, y File) bool { return x.Path == y.Path && bytes.Equal(x.Data, y.Data) }) {
			t.Errorf("%s: two runs differ", name)
		}
	}
}

func TestProfiles(t *testing.T) {
	c := everyFolder(t)
	text := func(folder *Folder) string {
		var all strings.Builder
		for _, f := range folder.Files {
			all.WriteString(f.Path + "\n" + string(f.Data))
		}
		return all.String()
	}
	for _, p := range Platforms() {
		openshift, generic, none := text(c[p.Name+"-openshift-2022"]), text(c[p.Name+"-generic-2022"]), text(c[p.Name+"-none"])
		if !strings.Contains(openshift, "no-runtime.ps1") || strings.Contains(generic, "no-runtime.ps1") {
			t.Errorf("%s: the check for a container runtime isn't OpenShift's alone", p.Name)
		}
		if strings.Contains(none, "winbake-node") || strings.Contains(none, "github.com/winbake/winbake\"") {
			t.Errorf("%s: an image without node files needs the plugin", p.Name)
		}
		if !strings.Contains(openshift, `default     = "`+digest+`"`) {
			t.Errorf("%s: the payload isn't pinned by digest", p.Name)
		}
	}
}

func BenchmarkAllPlatforms(b *testing.B) {
	c := cases()
	for b.Loop() {
		for _, p := range Platforms() {
			if _, err := Render(c[p.Name+"-openshift-2022"]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestReadme: the commands to run are right, in their order, whether the values
// are in the folder already or not.
func TestReadme(t *testing.T) {
	v, err := ReadValues(valueFile(t, good))
	if err != nil {
		t.Fatal(err)
	}
	payload := Payload{Reference: "quay.io/example/payload@" + digest, Digest: digest}
	for name, c := range map[string]struct {
		o    Options
		want []string
	}{
		"values to come": {Options{Platform: "vsphere-iso", Payload: payload}, []string{
			"packer plugins install --path packer-plugin-winbake github.com/winbake/winbake",
			"packer init .", "packer validate -var-file=values.pkrvars.hcl .", "packer build -var-file=values.pkrvars.hcl .",
			"packer plugins install --path packer-plugin-vsphere github.com/hashicorp/vsphere"}},
		"values there": {Options{Platform: "vsphere-iso", WithoutPayload: true, Values: v}, []string{
			"packer init .", "packer validate .", "packer build .", "packer plugins install --path packer-plugin-vsphere github.com/hashicorp/vsphere"}},
	} {
		var have []string
		for _, f := range mustRender(t, c.o).Files {
			if f.Path != "README.md" {
				continue
			}
			for line := range strings.Lines(string(f.Data)) {
				if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
					have = append(have, command)
				}
			}
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: have %q, want %q", name, have, c.want)
		}
	}
}
