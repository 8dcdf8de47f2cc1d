package pins

import (
	"strings"
	"testing"
)

func TestFormatFollowsRelease(t *testing.T) {
	for release, want := range map[string]string{
		"4.12": "flat", "4.15": "flat", "4.20": "flat", "4.21": "archived", "4.22": "archived", "5.0": "archived", "5.10": "archived",
	} {
		if got := (&File{Release: release}).Format(); got != want {
			t.Errorf("release %s: %s, want %s", release, got, want)
		}
	}
}

func TestPinDigestCoversWhatDecidesBytes(t *testing.T) {
	file := &File{Go: "1.26.8"}
	base := func() *Component {
		return &Component{Name: "x", Module: "example.com/x", Version: "v1.0.0", Package: "./cmd/x", Payload: "x.exe",
			Godebug: &Godebug{Set: map[string]string{"winsymlink": "0"}, Reason: "a"}}
	}
	first := base().PinDigest(file)
	for name, c := range map[string]struct {
		change func(*Component)
		same   bool
	}{
		"version":        {func(c *Component) { c.Version = "v1.0.1" }, false},
		"module":         {func(c *Component) { c.Module = "example.com/y" }, false},
		"package":        {func(c *Component) { c.Package = "./cmd/y" }, false},
		"commit":         {func(c *Component) { c.Commit = strings.Repeat("a", 40) }, false},
		"stamp":          {func(c *Component) { c.Stamp = map[string]string{"main.v": "x"} }, false},
		"tags":           {func(c *Component) { c.Tags = []string{"a"} }, false},
		"fips":           {func(c *Component) { c.FIPS = "v1.0.0" }, false},
		"go":             {func(c *Component) { c.Go = "1.24.9" }, false},
		"the same go":    {func(c *Component) { c.Go = "1.26.8" }, true},
		"godebug":        {func(c *Component) { c.Godebug.Set["a"] = "1" }, false},
		"godebug go":     {func(c *Component) { c.Godebug.Go = "1.23" }, false},
		"godebug reason": {func(c *Component) { c.Godebug.Reason = "b" }, true},
		"memory":         {func(c *Component) { c.Memory = "7GiB" }, true},
		"payload":        {func(c *Component) { c.Payload = "y.exe" }, true},
		"install":        {func(c *Component) { c.Install = `C:\k\x.exe` }, true},
	} {
		changed := base()
		c.change(changed)
		if (changed.PinDigest(file) == first) != c.same {
			t.Errorf("%s: same digest is %v, want %v", name, !c.same, c.same)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"": 0, "1KiB": 1 << 10, "512MiB": 512 << 20, "7GiB": 7 << 30} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"7", "7GB", "GiB", "-1GiB", "99999999999GiB", "1.5GiB"} {
		if _, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) is no error", in)
		}
	}
}

func TestStamps(t *testing.T) {
	c := &Component{Name: "x", Module: "example.com/x", Version: "v1.33.13", Stamp: map[string]string{
		"main.v": "{{.Version}}", "main.plain": "{{slice .Version 1}}", "main.mm": "{{.Major}}.{{.Minor}}", "main.c": "{{.Commit}}", "main.d": "{{.Date}}", "main.s": "clean",
	}}
	l := &Locked{Commit: strings.Repeat("c", 40), Date: "2025-09-17T07:03:51Z"}
	got, err := c.Stamps(l, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"main.v": "v1.33.13", "main.plain": "1.33.13", "main.mm": "1.33", "main.c": l.Commit, "main.d": l.Date, "main.s": "clean",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	if got, err = c.Stamps(l, "86400"); err != nil || got["main.d"] != "1970-01-02T00:00:00Z" {
		t.Errorf("with SOURCE_DATE_EPOCH: %q, %v", got["main.d"], err)
	}
	if _, err = c.Stamps(l, "today"); err == nil {
		t.Error("SOURCE_DATE_EPOCH=today was taken")
	}
	// No sum of a module covers a date.
	if got, err = c.Stamps(&Locked{Commit: l.Commit}, ""); err != nil || got["main.d"] != "1970-01-01T00:00:00Z" {
		t.Errorf("without a date: %q, %v", got["main.d"], err)
	}
	if _, err = c.Stamps(&Locked{Date: l.Date}, ""); err == nil || !strings.Contains(err.Error(), "add commit:") {
		t.Errorf("without a commit: %v", err)
	}
}

func TestSelect(t *testing.T) {
	f := &File{Components: []Component{{Name: "a"}, {Name: "b"}, {Name: "csi-proxy"}}}
	got, err := f.Select([]string{"b", "a"})
	if err != nil || len(got) != 2 || got[0].Name != "a" {
		t.Errorf("Select = %v, %v", got, err)
	}
	if _, err := f.Select([]string{"csi-prox"}); err == nil || !strings.Contains(err.Error(), "did you mean csi-proxy?") {
		t.Errorf("a near name: %v", err)
	}
}
