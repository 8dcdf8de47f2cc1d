package resolve

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	gcrregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/registry"
)

func TestMain(m *testing.M) {
	registry.Retries = registry.Backoff{First: time.Millisecond, Most: time.Minute, Tries: 3}
	os.Exit(m.Run())
}

// serve starts a registry and counts what it is asked.
func serve(t *testing.T, refuse func(*http.Request) int) (host string, asked *int) {
	t.Helper()
	reg := gcrregistry.New(gcrregistry.Logger(log.New(io.Discard, "", 0)))
	asked = new(int)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		if code := refuse(r); code != 0 {
			w.WriteHeader(code)
			return
		}
		reg.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://"), asked
}

func never(*http.Request) int { return 0 }

// labelled is an image of its own with labels.
func labelled(t *testing.T, labels map[string]string) v1.Image {
	t.Helper()
	img, err := mutate.Config(empty.Image, v1.Config{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func push(t *testing.T, repository string, img v1.Image, tags ...string) string {
	t.Helper()
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range append([]string{"@" + digest.String()}, tags...) {
		if !strings.HasPrefix(at, "@") {
			at = ":" + at
		}
		ref, err := name.ParseReference(repository + at)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(ref, img); err != nil {
			t.Fatal(err)
		}
	}
	return digest.String()
}

func byDigest(repository, digest string) *inventory.Inventory {
	return &inventory.Inventory{Drivers: []inventory.Driver{{
		Image:   inventory.Image{Reference: repository + "@" + digest, Repository: repository, Digest: digest},
		Version: inventory.VersionFact{Reason: "digest only", At: inventory.Evidence{Where: "ds.yaml:3"}},
	}}}
}

func TestImages(t *testing.T) {
	commit := strings.Repeat("0123abcd", 5)
	host, _ := serve(t, never)
	for i, c := range []struct {
		name, label, value string
		more               map[string]string
		tags               []string
		version, by        string
		reason             string
	}{
		{name: "a tag", tags: []string{"v1.18.0", "latest", "v1.18", "sha256-abc.sig"}, version: "1.18.0", by: "registry-tag"},
		{name: "a tag and a variant", tags: []string{"v1.18.0", "v1.18.0-windows-hp"}, version: "1.18.0", by: "registry-tag"},
		{name: "a label", label: "org.opencontainers.image.version", value: "v1.17.0", version: "1.17.0", by: "label"},
		{name: "the plain label", label: "version", value: "1.17.0", version: "1.17.0", by: "label"},
		{name: "both", label: "version", value: "v1.18.0", tags: []string{"v1.18.0"}, version: "1.18.0", by: "registry-tag"},
		{name: "both, which differ", label: "version", value: "v1.17.0", tags: []string{"v1.18.0"}, reason: "and its label says"},
		{name: "tags that differ", tags: []string{"v1.18.0", "v1.17.0"}, reason: "several versions"},
		{name: "a base image's", label: "org.opencontainers.image.version", value: "22.04", reason: "no tag and no label"},
		{name: "Red Hat's", label: "version", value: "v4.19.0", more: map[string]string{"io.openshift.build.commit.id": "0123abcd"}, reason: "built from commit 0123abcd"},
		{name: "Red Hat's, with a whole commit", label: "version", value: "v4.19.0", more: map[string]string{"io.openshift.build.commit.id": commit}, reason: "built from commit " + commit},
		{name: "tags that float", tags: []string{"v1.18", "latest", "canary"}, reason: "no tag and no label"},
		{name: "nothing", reason: "no tag and no label"},
	} {
		labels := map[string]string{"n": c.name}
		for k, v := range c.more {
			labels[k] = v
		}
		if c.label != "" {
			labels[c.label] = c.value
		}
		repository := host + "/mirror/r" + string(rune('a'+i))
		push(t, repository, labelled(t, map[string]string{"other": c.name}), "v0.9.0")
		inv := byDigest(repository, push(t, repository, labelled(t, labels), c.tags...))
		if err := Images(t.Context(), inv, registry.Options{}); err != nil {
			t.Fatal(err)
		}
		v := inv.Drivers[0].Version
		if v.Known != (c.version != "") || v.Known && (v.Version.Core() != c.version || v.By != c.by || v.At.Where != "ds.yaml:3" || v.At.Text == "") || !strings.Contains(v.Reason, c.reason) || len(inv.Problems) > 0 {
			t.Errorf("%s: %+v, problems %v", c.name, v, inv.Problems)
		}
		if want := c.more["io.openshift.build.commit.id"] == commit; want != (v.Commit == commit) {
			t.Errorf("%s: its commit is %q", c.name, v.Commit)
		}
	}
}

// A digest may be of the image of one system, and the tags of an index.
func TestIndex(t *testing.T) {
	host, _ := serve(t, never)
	repository := host + "/mirror/index"
	windows, linux := labelled(t, map[string]string{"os": "windows"}), labelled(t, map[string]string{"os": "linux"})
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: linux, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
		mutate.IndexAddendum{Add: windows, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "windows", Architecture: "amd64"}}})
	ref, err := name.ParseReference(repository + ":v1.18.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(ref, index); err != nil {
		t.Fatal(err)
	}
	whole, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	part, err := windows.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{whole.String(), part.String()} {
		inv := byDigest(repository, digest)
		if err := Images(t.Context(), inv, registry.Options{}); err != nil || inv.Drivers[0].Version.Version.Core() != "1.18.0" {
			t.Errorf("%s: %v, %+v", digest, err, inv.Drivers[0].Version)
		}
	}
}

// Nobody is asked about what is known, or has no place; one image is asked for
// once.
func TestAsksOnce(t *testing.T) {
	host, asked := serve(t, never)
	digest := push(t, host+"/mirror/one", labelled(t, map[string]string{"version": "1.17.0"}))
	inv := byDigest(host+"/mirror/one", digest)
	inv.Drivers[0].Version.Known = true
	inv.Drivers = append(inv.Drivers, inventory.Driver{Image: inventory.Image{Digest: digest}}, inventory.Driver{Image: inventory.Image{Repository: host + "/mirror/one", Tag: "latest"}})
	*asked = 0
	if err := Images(t.Context(), inv, registry.Options{}); err != nil || *asked != 0 {
		t.Errorf("%v, asked %d times", err, *asked)
	}
	twice := byDigest(host+"/mirror/one", digest)
	if err := Images(t.Context(), twice, registry.Options{}); err != nil {
		t.Fatal(err)
	}
	once := *asked
	*asked = 0
	twice = byDigest(host+"/mirror/one", digest)
	twice.Drivers = append(twice.Drivers, twice.Drivers[0])
	if err := Images(t.Context(), twice, registry.Options{}); err != nil || *asked != once || !twice.Drivers[1].Version.Known {
		t.Errorf("%v: asked %d times for two, %d for one", err, *asked, once)
	}
}

// A registry that doesn't let in, or doesn't have the image, is a problem, and the
// version stays unknown.
func TestRefused(t *testing.T) {
	for code, want := range map[int]string{http.StatusUnauthorized: "", http.StatusForbidden: "", http.StatusNotFound: "", http.StatusInternalServerError: ""} {
		refusing := false
		host, _ := serve(t, func(*http.Request) int {
			if refusing {
				return code
			}
			return 0
		})
		digest := push(t, host+"/mirror/one", labelled(t, nil), "v1.18.0")
		refusing = true
		inv := byDigest(host+"/mirror/one", digest)
		err := Images(t.Context(), inv, registry.Options{})
		if err != nil || inv.Drivers[0].Version.Known || len(inv.Problems) != 1 || inv.Problems[0].Fix == "" || !strings.Contains(inv.Problems[0].What, want) {
			t.Errorf("%d: %v, %+v, %+v", code, err, inv.Drivers[0].Version, inv.Problems)
		}
	}
	host, _ := serve(t, never)
	digest := push(t, host+"/mirror/one", labelled(t, nil), "v1.18.0")
	gone, asked := serve(t, func(*http.Request) int { panic(http.ErrAbortHandler) })
	inv := byDigest(gone+"/mirror/one", digest)
	if err := Images(t.Context(), inv, registry.Options{}); err != nil || len(inv.Problems) != 1 {
		t.Fatalf("%v, %+v", err, inv.Problems)
	}
	once := *asked
	inv = byDigest(gone+"/mirror/one", digest)
	inv.Drivers = append(inv.Drivers, inventory.Driver{Image: inventory.Image{Repository: gone + "/mirror/two", Digest: digest}})
	if err := Images(t.Context(), inv, registry.Options{}); err != nil || len(inv.Problems) != 1 || *asked != 2*once || inv.Drivers[1].Version.Reason != "; its registry can't be reached" {
		t.Errorf("%v: asked %d times for two images, %d for one: %+v, %+v", err, *asked-once, once, inv.Problems, inv.Drivers[1].Version)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Images(ctx, byDigest(host+"/mirror/one", digest), registry.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
