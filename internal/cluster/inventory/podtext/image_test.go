package podtext

import (
	"errors"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
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
