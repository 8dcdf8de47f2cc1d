package release

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

var (
	vsphereCommit = strings.Repeat("61d0d00a", 5)
	kubeCommit    = strings.Repeat("2df3632e", 5)
	vsphereDigest = "sha256:" + strings.Repeat("ab", 32)
	kubeDigest    = "sha256:" + strings.Repeat("cd", 32)
)

const repository = "quay.io/openshift-release-dev/ocp-v4.0-art-dev"

// references is an image-references file as ART's builds have it: an empty
// commit.ref, and the version of Kubernetes on one tag among several values.
func references() string {
	return fmt.Sprintf(`{
  "kind": "ImageStream",
  "apiVersion": "image.openshift.io/v1",
  "metadata": {"name": "4.20.3"},
  "spec": {"lookupPolicy": {"local": false}, "tags": [
    {"name": "vsphere-csi-driver",
     "annotations": {"io.openshift.build.commit.id": %q, "io.openshift.build.commit.ref": "",
                     "io.openshift.build.source-location": "https://github.com/openshift/vmware-vsphere-csi-driver"},
     "from": {"kind": "DockerImage", "name": %q}, "generation": null},
    {"name": "hyperkube",
     "annotations": {"io.openshift.build.commit.id": %q,
                     "io.openshift.build.source-location": "https://github.com/openshift/kubernetes",
                     "io.openshift.build.versions": "kubectl=1.33.5,kubernetes=1.33.5,machine-os=9.6,machine-os=10.0"},
     "from": {"kind": "DockerImage", "name": %q}}
  ]}
}`, vsphereCommit, repository+"@"+vsphereDigest, kubeCommit, repository+"@"+kubeDigest)
}

// wantTags are the tags of references.
func wantTags() []inventory.PayloadTag {
	image := func(digest string) inventory.Image {
		return inventory.Image{Reference: repository + "@" + digest, Repository: repository, Digest: digest}
	}
	return []inventory.PayloadTag{
		{Name: "hyperkube", Image: image(kubeDigest), Commit: kubeCommit, Source: "https://github.com/openshift/kubernetes", Kubernetes: "1.33.5"},
		{Name: "vsphere-csi-driver", Image: image(vsphereDigest), Commit: vsphereCommit, Source: "https://github.com/openshift/vmware-vsphere-csi-driver"},
	}
}

// layerOf packs files, given as name and content in turn, as they are.
func layerOf(t testing.TB, files ...string) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1])), Format: tar.FormatUSTAR}
		if err := errors.Join(w.WriteHeader(h), write(w, files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

// imageOfLayers is a linux/amd64 image.
func imageOfLayers(t testing.TB, layers ...v1.Layer) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	cf, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture = "linux", "amd64"
	if img, err = mutate.ConfigFile(img, cf); err != nil {
		t.Fatal(err)
	}
	return img
}

// release is a release image: an operator's layer below, the manifests above.
func releaseOf(t testing.TB) v1.Image {
	t.Helper()
	return imageOfLayers(t,
		layerOf(t, "usr/bin/cluster-version-operator", strings.Repeat("x", 1<<16)),
		layerOf(t, "release-manifests/0000_00.yaml", "kind: X", "release-manifests/image-references", references()))
}

func layoutOf(t testing.TB, img v1.Image) string {
	t.Helper()
	dir := t.TempDir()
	p, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = p.AppendImage(img)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantFault checks that err is a fault for a person and holds all parts.
func wantFault(t *testing.T, err error, parts ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("%v, want a fault", err)
	}
	if f.Fix == "" || f.Where == "" {
		t.Errorf("a fault without a place or a fix: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\nlacks %q", err, part)
		}
	}
}
