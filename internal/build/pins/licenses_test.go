package pins

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLicenseTexts(t *testing.T) {
	texts := LicenseTexts{}
	mit := texts.Add([]byte("\nMIT\r\n\r\n=== 00, 3 bytes, of:\nCopyright\n"))
	if again := texts.Add([]byte("MIT\n\n=== 00, 3 bytes, of:\nCopyright")); again != mit {
		t.Error("line ends make another text")
	}
	accent := texts.Add([]byte("Copyright Andr\xe9\n"))
	if texts[accent] != "Copyright André" {
		t.Errorf("Latin-1 became %q", texts[accent])
	}
	gone := texts.Add([]byte("of nobody"))
	components := []*Locked{
		{Toolchain: "go1.26.8", ToolchainTexts: []string{accent}, Modules: []LockedModule{
			{Path: "a.b/c", Version: "v1.0.0", Texts: []string{mit}},
			{Path: "a.b/d", Version: "v1.0.0", Replace: &ModuleVersion{"e.f/d", "v2.0.0"}, Texts: []string{mit, accent}},
		}},
		{Modules: []LockedModule{{Path: "a.b/c", Version: "v1.0.0", Texts: []string{mit}}}},
	}
	data, err := texts.Encode(components)
	if err != nil {
		t.Fatal(err)
	}
	want := licensesHead +
		"\n=== " + accent + ", 16 bytes, of:\nGo 1.26.8\ne.f/d v2.0.0\n\nCopyright André\n" +
		"\n=== " + mit + ", 35 bytes, of:\na.b/c v1.0.0\ne.f/d v2.0.0\n\nMIT\n\n=== 00, 3 bytes, of:\nCopyright\n"
	if string(data) != want {
		t.Errorf("got\n%s\nwant\n%s", data, want)
	}
	back := parseTexts(data)
	delete(texts, gone)
	if !maps.Equal(back, texts) {
		t.Errorf("%v came back as %v", texts, back)
	}
	if back = parseTexts([]byte(strings.Replace(want, "MIT", "mit", 1))); back[mit] != "" || back[accent] == "" {
		t.Errorf("a changed text was taken, or the other lost: %v", back)
	}
	if _, err := back.Encode(components); !errors.Is(err, ErrNoText) || !strings.Contains(err.Error(), mit+" of a.b/c v1.0.0, e.f/d v2.0.0") {
		t.Errorf("a text that is gone: %v", err)
	}
	if data, err := texts.Encode([]*Locked{{Toolchain: "go1.26.8"}}); data != nil || err != nil {
		t.Errorf("nobody names a text: %q, %v", data, err)
	}
}

// What an older bake locked has no texts, and its programs stay those that they were.
func TestTextsDecideNoProgram(t *testing.T) {
	f, l := project(t)
	old := *l.Components["x"]
	old.Output = &Output{Action: "sha256:aa", SHA256: "sha256:bb", Size: 1}
	texts := LicenseTexts{}
	now := old
	now.Output, now.Modules = nil, slices.Clone(old.Modules)
	now.Modules[0].Texts, now.ToolchainTexts = []string{texts.Add([]byte("MIT"))}, []string{texts.Add([]byte("BSD"))}
	if now.KeepOutput("x", &old); now.Output == nil || old.HasTexts() || !now.HasTexts() {
		t.Error("the recorded output was lost by the texts")
	}
	changed := now
	changed.Output, changed.Sum = nil, "h1:other="
	if changed.KeepOutput("x", &old); changed.Output != nil {
		t.Error("the output of another source was kept")
	}
	l.Seal("x", &now)
	data, err := texts.Encode([]*Locked{&now})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.LockDir(), LicensesName)
	for text, want := range map[string]string{
		string(data):       "",
		string(data) + "x": "line 12 isn't as bake lock writes it",
		strings.Replace(string(data), "MIT", "mit", 1): "there is no licence text: ",
	} {
		write(t, path, text)
		stale := l.Check(f, "x")
		if got := len(stale) > 0; got != (want != "") || got && (stale[0].Component != LicensesName || !strings.HasPrefix(stale[0].Reason, want)) {
			t.Errorf("%q: %+v, want %q", text, stale, want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if stale := l.Check(f); len(stale) != 1 {
		t.Errorf("without the file: %+v", stale)
	}
}

func FuzzParseTexts(f *testing.F) {
	texts := LicenseTexts{}
	lock := &Locked{ToolchainTexts: []string{texts.Add([]byte("BSD")), texts.Add([]byte("MIT\n\n=== x"))}}
	data, err := texts.Encode([]*Locked{lock})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		for id, text := range parseTexts(data) {
			if (LicenseTexts{}).Add([]byte(text)) != id {
				t.Errorf("%q isn't %s", text, id)
			}
		}
	})
}
