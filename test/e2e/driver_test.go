//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"archive/tar"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/images"
	"github.com/winbake/winbake/test/wine/winedriver"
	"github.com/winbake/winbake/test/wine/winenode"
)

const (
	diskModule  = "sigs.k8s.io/azuredisk-csi-driver"
	diskVersion = "v1.33.1" // the one that the module proxy has, and OpenShift 4.20's
)

const (
	noCloud  = "the test makes a volume first, and there is no Azure"
	anyPath  = "the played PowerShell has a volume at any path"
	notFound = "should fail when volume is not found"
)

// sanityFails are the tests of csi-test's suite for Identity and Node that fail, and
// why. Those for Controller end the program, which has no cloud: DeleteSnapshot uses a
// nil pointer. docs/csi-drivers.md lists them.
var sanityFails = map[string]string{
	"Node Service should work":                                                        noCloud,
	"Node Service should be idempotent":                                               noCloud,
	"NodeStageVolume should fail when no volume capability is provided":               noCloud,
	"NodeUnpublishVolume should remove target path":                                   noCloud,
	"NodeGetVolumeStats should fail when volume does not exist on the specified path": noCloud,
	"NodeExpandVolume should fail when no volume path is provided":                    noCloud,
	"NodeExpandVolume should work if node-expand is called after node-publish":        noCloud,
	"NodeGetVolumeStats " + notFound:                                                  anyPath,
	"NodeExpandVolume " + notFound:                                                    anyPath,
}

// A driver is built from a commit of a fork, its program starts and says which
// version it is, a real API server takes its manifests, and verify skew says that
// both sides are of that commit. A local repository of the module's source, with a
// commit on top, plays the fork.
func TestDriverOfTheReleasesCommit(t *testing.T) {
	c := newClone(t)
	c.run(t, "make", "bin/bake", "bin/verify")
	commit := playFork(t, &c)
	if err := images.WriteWindowsBase(filepath.Join(c.dir, "base"), "", images.Hive); err != nil {
		t.Fatal(err)
	}
	args := []string{"driver", "azure-disk", "--for", "4.20.6", "--catalog", "catalog.yaml", "--release-image", "release.json", "--base", "oci:base"}
	out, _ := c.run(t, "bin/bake", args...)
	_, digest, ok := strings.Cut(strings.TrimSpace(out), "@")
	if !ok {
		t.Fatalf("bake driver printed %q", out)
	}

	c.run(t, "bin/bake", "manifests", "csi-driver", "azure-disk", "--for", "4.20.6", "--image", "quay.io/me/azure-disk@"+digest, "--out", "azure-disk")
	accepted(t, c, "azure-disk", "quay.io/me/azure-disk@"+digest)
	report, _ := c.run(t, "bin/verify", "skew", "--from", "4.20.6", "--manifests", "azure-disk", "--static",
		"--catalog", "catalog.yaml", "--release-image", "release.json", "--image-version", digest+"=v1.33.1@"+commit)
	if !strings.Contains(report, "same commit") {
		t.Errorf("both sides are of commit %s, and verify skew says:\n%s", commit, report)
	}
	runsAsNoted(t, program(t, filepath.Join(c.dir, "_output/driver/azure-disk"), "azurediskplugin.exe"))
}

// accepted gives a folder to a real API server, which must take every object as it
// is, and asks it for the DaemonSet's images.
func accepted(t *testing.T, c clone, folder, image string) {
	t.Helper()
	server := apiserver.Start(t)
	server.LoadText(t, `
apiVersion: v1
kind: Namespace
metadata:
  name: openshift-cluster-csi-drivers
  labels: {pod-security.kubernetes.io/enforce: privileged}
`)
	kubectl, err := apiserver.Kubectl(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.run(t, kubectl, "--kubeconfig", server.Kubeconfig, "create", "--validate=strict", "-f", folder)
	images, _ := c.run(t, kubectl, "--kubeconfig", server.Kubeconfig, "-n", "openshift-cluster-csi-drivers", "get", "daemonsets", "-o", "jsonpath={..image}")
	if !strings.Contains(images, image) {
		t.Errorf("the DaemonSet has %s, not %s", images, image)
	}
}

// playFork makes the fork and its upstream, and has git and the catalog take them
// for the real ones.
func playFork(t *testing.T, c *clone) (commit string) {
	t.Helper()
	source, _, err := apiserver.Module(t.Context(), ".", diskModule+"@"+diskVersion)
	if err != nil {
		t.Fatal(err)
	}
	fork := filepath.Join(t.TempDir(), "fork")
	if err := os.CopyFS(fork, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "gitconfig")
	c.env = append(c.env, "GIT_CONFIG_GLOBAL="+config)
	script := `set -e
chmod -R u+w "$1"; cd "$1"
git config --global user.email a@example.com; git config --global user.name a
git config --global uploadpack.allowAnySHA1InWant true
export GIT_AUTHOR_DATE=2025-09-09T08:00:00Z GIT_COMMITTER_DATE=2025-09-09T08:00:00Z
git init -q; git add -A -f; git commit -qm upstream; git tag "$2"
echo reviewers > OWNERS; git add -A; git commit -qm 'UPSTREAM: <carry>: add OWNERS'
git config --global "url.$1.insteadOf" https://github.com/openshift/azure-disk-csi-driver
git rev-parse HEAD`
	out2, _ := c.run(t, "sh", "-c", script, "sh", fork, diskVersion)
	commit = strings.TrimSpace(out2)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("catalog.yaml", fmt.Sprintf(`apiVersion: winbake.dev/catalog/v1
asOf: "2026-01-01"
commits:
  - {driver: azure-disk, commit: "%s", version: 1.33.1, openshift: "4.20", date: "2025-09-09"}
`, commit[:12]))
	write("release.json", fmt.Sprintf(`{"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": "4.20.6"}, "spec": {"tags": [
  {"name": "azure-disk-csi-driver", "annotations": {"io.openshift.build.commit.id": "%s", "io.openshift.build.source-location": "https://github.com/openshift/azure-disk-csi-driver"},
   "from": {"kind": "DockerImage", "name": "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:%s"}}]}}`, commit, strings.Repeat("1", 64)))
	return commit
}

// program takes a file out of the last layer of a Windows image.
func program(t *testing.T, layout, name string) string {
	t.Helper()
	src, err := oci.Load(t.Context(), "oci:"+layout, oci.Options{Platform: &v1.Platform{OS: "windows", Architecture: "amd64"}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	img, err := src.Image()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	rc, err := layers[len(layers)-1].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	for tr := tar.NewReader(rc); ; {
		h, err := tr.Next()
		if err != nil {
			t.Fatalf("no %s in the image: %v", name, err)
		}
		if h.Name != "Files/"+name {
			continue
		}
		file := filepath.Join(t.TempDir(), name)
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(f, tr); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return file
	}
}

// runsAsNoted starts the driver in each mode, beside each csi-proxy and without
// one, and holds what it does to the catalog's rows of that version.
func runsAsNoted(t *testing.T, exe string) {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	v, err := version.ParseDriver(diskVersion)
	if err != nil {
		t.Fatal(err)
	}
	n := winenode.Start(t, winenode.Options{})
	winedriver.GiveCluster(t, n)
	proxies := winedriver.Proxies(t)
	t.Run("sanity", func(t *testing.T) {
		c := winedriver.Case{Driver: "azure-disk", Exe: exe, Proxy: proxies["1.1.3"], ProxyVersion: "1.1.3"}
		winedriver.Sanity(t, n, c, "Identity Service|Node Service", 17, sanityFails)
	})
	for _, c := range winedriver.Cases("azure-disk", cat.Driver("azure-disk").Line(v), exe, proxies) {
		t.Run(c.String(), func(t *testing.T) {
			o, err := winedriver.Run(t.Context(), n, c)
			if err != nil {
				t.Fatal(err)
			}
			winedriver.Check(t, cat, c, o, v.Core(), "")
		})
	}
}
