package kube

import (
	"errors"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
)

var zeros = "sha256:" + strings.Repeat("0", 64)

func TestParseImage(t *testing.T) {
	for ref, want := range map[string]inventory.Image{
		"registry.k8s.io/csi-vsphere/driver:v3.3.0": {Repository: "registry.k8s.io/csi-vsphere/driver", Tag: "v3.3.0"},
		"mirror:5000/a/b":                {Repository: "mirror:5000/a/b"},
		"mirror:5000/a/b:v1":             {Repository: "mirror:5000/a/b", Tag: "v1"},
		"driver":                         {Repository: "driver"},
		"driver:latest":                  {Repository: "driver", Tag: "latest"},
		"a/b@" + zeros:                   {Repository: "a/b", Digest: zeros},
		"a/b:v1.2.3@" + zeros:            {Repository: "a/b", Tag: "v1.2.3", Digest: zeros},
		"docker-pullable://a/b@" + zeros: {Repository: "a/b", Digest: zeros},
		zeros:                            {Digest: zeros},
		"[::1]:5000/a/b:v1":              {Repository: "[::1]:5000/a/b", Tag: "v1"},
		"us-docker.pkg.dev/p/csi/1.32.0/azuredisk:v1.32": {Repository: "us-docker.pkg.dev/p/csi/1.32.0/azuredisk", Tag: "v1.32"},
	} {
		img, err := ParseImage(ref)
		want.Reference = ref
		if err != nil || img != want {
			t.Errorf("%s: %+v, %v; want %+v", ref, img, err, want)
		}
	}
}

func TestParseImageRefuses(t *testing.T) {
	for ref, template := range map[string]bool{
		"": false, "a:v1 - \"--flag=$(X)\"": false, "gcr.io/<your project>/driver:v1": true, "Upper/Case:v1": false, "a b": false, "a:v1:v2": false, "a@sha256:12": false, ":v1": false,
		"${IMAGE}": true, "a/b:${TAG}": true, "{{ .Values.image }}": true, "a:$(TAG)": true, "a:%TAG%": true, "vmware/vsphere-csi:<vsphere_csi_ver>": true,
	} {
		img, err := ParseImage(ref)
		if err == nil || errors.Is(err, ErrTemplate) != template || img != (inventory.Image{Reference: ref}) {
			t.Errorf("%q: %+v, %v", ref, img, err)
		}
	}
}

func FuzzParseImage(f *testing.F) {
	for _, s := range []string{"a/b:v1", "mirror:5000/a@" + zeros, "${X}", zeros, "docker-pullable://x", "A", "[::1]:5000/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		img, err := ParseImage(ref)
		if img.Reference != ref {
			t.Errorf("the reference became %q", img.Reference)
		}
		if err == nil && img.Repository == "" && img.Digest == "" {
			t.Errorf("%q names nothing", ref)
		}
	})
}

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
		img, err := ParseImage(ref)
		fact := c.versionOf(img, err, inventory.Evidence{Where: "here"})
		if fact.Version.String() != want.version || fact.By != want.by || fact.Known != (want.version != "") || !strings.Contains(fact.Reason, want.reason) {
			t.Errorf("%s: %+v, want %+v", ref, fact, want)
		}
		if !fact.Known && fact.Reason == "" {
			t.Errorf("%s: no reason", ref)
		}
	}
}

// A label is left standing when the image is changed: it is told, not believed.
func TestLabelIsAHint(t *testing.T) {
	d := driver(t, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: smb, labels: {helm.sh/chart: csi-driver-smb-v1.15.0}}
spec: {template: {spec: {containers: [{name: smb, image: 'x/sig-storage/smbplugin:latest'}]}}}`)
	if d.Version.Known || !strings.Contains(d.Version.Reason, "csi-driver-smb-v1.15.0") {
		t.Errorf("%+v", d.Version)
	}
}
