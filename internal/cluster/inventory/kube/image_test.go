package kube

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

var zeros = "sha256:" + strings.Repeat("0", 64)

func TestVersionOf(t *testing.T) {
	cat := drivers()
	cat.Digests = []catalog.Digest{{Digest: zeros, Driver: "smb", Version: "1.18.0", Variant: "windows-hp"}}
	ones := "sha256:" + strings.Repeat("1", 64)
	o := Options{Catalog: cat, ImageVersions: map[string]string{ones: "v1.2.3", "mirror/fixed": "v4.5.6", "mirror/exact:latest": "v7.8.9", "mirror/bad": "newest"}}
	for ref, want := range map[string]struct{ version, by, reason string }{
		"a/b:v1.29.2-windows-hp":       {"1.29.2-windows-hp", "tag", ""},
		"a/b:latest":                   {"", "", "moves"},
		"a/b":                          {"", "", "no tag"},
		"a/b@" + ones[:70] + "2":       {"", "", "digest only"},
		"a/b@" + zeros:                 {"1.18.0-windows-hp", "digest-map", ""},
		"a/b:v9.9.9@" + zeros:          {"1.18.0-windows-hp", "digest-map", ""},
		"a/b:v9.9.9@" + ones:           {"1.2.3", "user", ""},
		"mirror/fixed:latest":          {"4.5.6", "user", ""},
		"mirror/exact:latest":          {"7.8.9", "user", ""},
		"mirror/exact:canary":          {"", "", "moves"},
		"mirror/bad:v1.0.0":            {"", "", "the version given for mirror/bad"},
		"a/b:v999.0.1":                 {"", "", "absurdly high"},
		"mcr/azuredisk:v.2.0.0-beta.5": {"", "", "a dot after the v"},
		"a/b:{{ .Values.tag }}":        {"", "", "template"},
		"A/B:v1.0.0":                   {"", "", "image reference"},
	} {
		c := NewCollector(o)
		img, err := podtext.ParseImage(ref)
		fact := c.versionOf(img, err, inventory.Evidence{Where: "here"})
		if fact.Version.String() != want.version || fact.By != want.by || fact.Known != (want.version != "") || !strings.Contains(fact.Reason, want.reason) {
			t.Errorf("%s: %+v, want %+v", ref, fact, want)
		}
		if !fact.Known && fact.Reason == "" {
			t.Errorf("%s: no reason", ref)
		}
	}
}
