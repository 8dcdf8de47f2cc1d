package version

import (
	"errors"
	"strings"
	"testing"
)

func TestParseDriver(t *testing.T) {
	for tag, want := range map[string]string{
		"v1.28.0":             "1.28.0",
		"1.28":                "1.28.0",
		"v1.29.2-windows-hp":  "1.29.2-windows-hp",
		"v1.36.0-eksbuild.1":  "1.36.0-eksbuild.1",
		"v2.13.0-eks-1-33-3":  "2.13.0-eks-1-33-3",
		"v1.61.0-fips":        "1.61.0-fips",
		"v3.0.2-rc.2":         "3.0.2-rc.2",
		"v1.8.2-rc1":          "1.8.2-rc.1",
		"v1.8.2-rc10":         "1.8.2-rc.10",
		"v1.8.2-rc007":        "1.8.2-rc.7",
		"v2.0.0-beta.5":       "2.0.0-beta.5",
		"v1.33.5-rc.1+abc":    "1.33.5-rc.1",
		"1.34.0+openshift":    "1.34.0",
		"v1.1.3-28-g0939e7a":  "1.1.3-28-g0939e7a",
		"v1.1.3-0-g0211fea":   "1.1.3-0-g0211fea",
		"v1.33.5-rke2r1":      "1.33.5-rke2r1",
		"v1.32.10-2":          "1.32.10-2", // a respin of Azure's
		"v1.32.0-linux-amd64": "1.32.0-linux-amd64",
		// Respins with a fourth number.
		"v1.29.1.1-windows-hp": "1.29.1-1-windows-hp",
		"v1.29.1.1":            "1.29.1-1",
	} {
		d, err := ParseDriver(tag)
		if err != nil || d.String() != want {
			t.Errorf("ParseDriver(%q) = %q, %v; want %q", tag, d, err, want)
		}
	}
}

func TestFloats(t *testing.T) {
	for tag, want := range map[string]bool{"1.29": true, "v1.29": true, "1.29-windows-hp": true, "v1.29.1": false, "v1.29.1.1": false, "latest": false, "": false} {
		if got := Floats(tag); got != want {
			t.Errorf("Floats(%q) = %t", tag, got)
		}
	}
}

func TestParseDriverRefuses(t *testing.T) {
	for tag, reason := range map[string]string{
		"":                        "there is none",
		"latest":                  "it moves",
		"latest-windows-hp":       "it moves",
		"master":                  "it moves",
		"canary":                  "it moves",
		"v.2.0.0-beta.5":          "a dot after the v",
		"v999.0.1":                "absurdly high",
		"v999.1.0":                "absurdly high",
		"v20260101-v1.20.0":       "it is a date",
		"4.14.0-202311021650.p0":  "an OpenShift image",
		"${VERSION}":              "a template",
		"{{ .Values.tag }}":       "a template",
		"v{{ .Version }}":         "a template",
		"$(TAG)":                  "a template",
		"Unknown":                 "wasn't told",
		"0939e7a":                 "a commit",
		"v1":                      "major.minor",
		"v1.2.3-something-new":    "suffix",
		"v1.2.3-":                 "suffix",
		"v18446744073709551616.1": "absurdly high",
		strings.Repeat("1.", 500): "too long",
		"v1.2.3\n":                "major.minor",
		"v0.0.0":                  "wasn't told",
	} {
		_, err := ParseDriver(tag)
		var u *Unreadable
		if !errors.As(err, &u) || !strings.Contains(u.Reason, reason) {
			t.Errorf("ParseDriver(%q): %v; want a reason with %q", tag, err, reason)
		}
	}
}

// The traps of Masterminds/semver alone: every pair is in ascending order.
func TestDriverOrder(t *testing.T) {
	for _, p := range [][2]string{
		{"v1.8.2-rc9", "v1.8.2-rc10"},
		{"v1.8.2-rc.2", "v1.8.2"},
		{"v1.1.3", "v1.1.3-28-g0939e7a"},
		{"v1.1.3-28-g0939e7a", "v1.1.3-34-g5cb6e2d"},
		{"v1.1.3-34-g5cb6e2d", "v1.2.0"},
		{"v1.29.2-windows-hp", "v1.29.3"},
		{"v1.9.0", "v1.10.0-eksbuild.1"},
	} {
		a, b := MustDriver(p[0]), MustDriver(p[1])
		if a.Compare(b) != -1 || b.Compare(a) != 1 {
			t.Errorf("%s and %s compare as %d", p[0], p[1], a.Compare(b))
		}
	}
	if MustDriver("v1.29.2-windows-hp").Compare(MustDriver("1.29.2")) != 0 {
		t.Error("a variant counts")
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		in, v string
		want  bool
	}{
		{">=1.28.0", "v1.29.2-windows-hp", true},
		{">=1.28.0", "v1.36.0-eksbuild.1", true},
		{">=3.0.2", "v3.0.2-rc.2", true},
		{"<1.28.0", "v1.27.9", true},
		{">=1.28.0 <1.33.0", "v1.33.0", false},
		{">=1.1.3", "v1.1.3-28-g0939e7a", true},
		{">=2.4.0 <3.5.0", "3.5.0-rc.3", false},
	} {
		r, err := ParseRange(c.in)
		if err != nil || r.Contains(MustDriver(c.v)) != c.want {
			t.Errorf("%q contains %s: %v, %v; want %v", c.in, c.v, !c.want, err, c.want)
		}
	}
	if _, err := ParseRange("newer"); err == nil {
		t.Error("a range of words was read")
	}
	if (Range{}).Contains(Driver{}) {
		t.Error("the zero range holds a version")
	}
}

func TestOpenShift(t *testing.T) {
	ascending := []string{"4.9", "4.20", "4.20.0-ec.3", "4.20.0-rc.1", "4.20.0", "4.20.3", "4.21.0-okd-scos.16", "4.22", "5.0", "5.0.0"}
	for i, s := range ascending {
		o, err := ParseOpenShift(s)
		if err != nil || o.String() != s {
			t.Fatalf("ParseOpenShift(%q) = %s, %v", s, o, err)
		}
		for j, u := range ascending {
			p, _ := ParseOpenShift(u)
			if got := o.Compare(p); got != min(1, max(-1, i-j)) {
				t.Errorf("%s and %s compare as %d", s, u, got)
			}
		}
	}
	for _, s := range []string{"", "4", "4.", "4.20.", "latest", "4.20-rc.1", "9999.1", "4.20.3.1", "v4.x"} {
		if o, err := ParseOpenShift(s); err == nil {
			t.Errorf("ParseOpenShift(%q) = %s", s, o)
		}
	}
}

func TestKubernetesAndWMCO(t *testing.T) {
	for s, want := range map[string]string{"v1.30.14+ad5b1a0": "1.30.14", "1.33": "1.33.0", "v1.33.5-rke2r1": "1.33.5"} {
		if k, err := ParseKubernetes(s); err != nil || k.String() != want {
			t.Errorf("ParseKubernetes(%q) = %s, %v", s, k, err)
		}
	}
	for s, want := range map[string]string{"10.17.1-abc1234": "10.17.1-abc1234", "10.19.0": "10.19.0", "v7.2.0+1a2b3c4-dirty": "7.2.0-1a2b3c4"} {
		if w, err := ParseWMCO(s); err != nil || w.String() != want {
			t.Errorf("ParseWMCO(%q) = %s, %v", s, w, err)
		}
	}
	for _, s := range []string{"", "10.17", "10.17.1-", "10.17.1-rc.1", "x"} {
		if w, err := ParseWMCO(s); err == nil {
			t.Errorf("ParseWMCO(%q) = %s", s, w)
		}
	}
	a, _ := ParseWMCO("10.17.0-abc1234")
	b, _ := ParseWMCO("10.17.1")
	if a.Compare(b) != -1 {
		t.Error("10.17.0 isn't before 10.17.1")
	}
}

func FuzzParseDriver(f *testing.F) {
	for _, s := range []string{"v1.28.0", "v1.29.2-windows-hp", "v3.0.2-rc.2", "v1.1.3-28-g0939e7a", "latest", "v.2.0.0", "v999.0.1", "1.2+x", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDriver(s)
		if err != nil {
			return
		}
		again, err := ParseDriver(d.String())
		if err != nil {
			t.Fatalf("%q reads as %s, which doesn't read: %v", s, d, err)
		}
		if again.Compare(d) != 0 {
			t.Fatalf("%q reads as %s and then as %s", s, d, again)
		}
	})
}
