//go:build e2e

package readers

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/test/support/compressed"
	"github.com/winbake/winbake/test/support/program"
)

// releases have the format of their payload: https://github.com/openshift/windows-machine-config-operator
var releases = map[string]string{"flat": "4.20", "archived": "4.21"}

// The payload's files: one that the base has and the pins bring, one that only
// the pins have, and those that only the base has.
const (
	both = "csi-proxy/csi-proxy.exe"
	own  = "containerd/containerd_conf.toml"
)

var (
	ofBase = []string{"kube-node/kubelet.exe", "kube-node/kube-proxy.exe", "powershell/hns.psm1", "windows-exporter/windows_exporter.exe"}
	// foldersOfBase stay, empty, where their files are removed one by one.
	foldersOfBase = []string{"kube-node/", "powershell/", "windows-exporter/"}
)

var programs = program.Folder{Commands: []string{"bake"}}

func TestMain(m *testing.M) { programs.Main(m) }

// operator writes the layout of an operator image that was played: a system, a
// payload over it, and a layer that removes a file of each.
func operator(t *testing.T, format string) string {
	t.Helper()
	system := map[string]string{"usr/bin/windows-machine-config-operator": "operator", "usr/share/doc/removed": "x", "usr/share/doc/kept": "y"}
	files := map[string]string{"payload/generated/": "", "payload/old/removed.exe": "old"}
	var sums string
	for _, name := range append(slices.Clone(ofBase), both) {
		body := "the base's " + name
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(body)), path.Base(name))
		if format == "archived" {
			body = string(compressed.Gzip(t, tarOf(t, map[string]string{path.Base(name): body})))
			name += ".tar.gz"
		}
		files["payload/"+name] = body
	}
	if format == "archived" {
		files["payload/sha256sum"] = sums
	}
	removes := map[string]string{"usr/share/doc/.wh.removed": "", "payload/.wh.old": ""}
	oci := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(oci, layerOf(t, system), layerOf(t, files), layerOf(t, removes))
	if err != nil {
		t.Fatal(err)
	}
	img, err = mutate.ConfigFile(img, configOf(t, img, releases[format]))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "operator")
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AppendImage(img); err != nil {
		t.Fatal(err)
	}
	return dir
}

// configOf is the image's configuration as that of an operator of a release.
func configOf(t *testing.T, img v1.Image, release string) *v1.ConfigFile {
	t.Helper()
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c = c.DeepCopy()
	c.OS, c.Architecture = "linux", "amd64"
	c.Config.Labels = map[string]string{"version": "v10." + strings.TrimPrefix(release, "4.") + ".0"}
	return c
}

// image is a baked image: a layout, and the same in a tarball and a registry.
type image struct{ dir, tarball, remote string }

// bake bakes two files and a service onto the base, and pushes the image.
func bake(t *testing.T, base, format string, flags ...string) image {
	t.Helper()
	dir := t.TempDir()
	yaml := fmt.Sprintf("apiVersion: winbake.dev/v1\nrelease: %q\ngo: local\ncomponents:\n", releases[format])
	for i, name := range []string{both, own} {
		body := "the pins' " + name
		file := path.Base(name)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		yaml += fmt.Sprintf("  - {name: c%d, file: %s, sha256: %x, payload: %s, install: 'C:\\k\\%s'}\n", i, file, sha256.Sum256([]byte(body)), name, file)
	}
	yaml += "services: [{name: csi-proxy, component: c0}]\n"
	if err := os.WriteFile(filepath.Join(dir, "versions.yaml"), []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	img := image{filepath.Join(dir, "image"), filepath.Join(dir, "image.tar"), startRegistry(t) + "/me/payload:1"}
	for _, args := range [][]string{
		{"lock", "-q"},
		append([]string{"payload", "-q", "--base", base, "--layout", img.dir, "--tarball", img.tarball}, flags...),
	} {
		cmd := programs.Command(t, "bake", args...)
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+dir+"/cache")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("bake %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if _, err := sh(t.Context(), nil, `skopeo copy -q --dest-tls-verify=false "oci:$1" "docker://$2"`, img.dir, img.remote); err != nil {
		t.Fatal(err)
	}
	return img
}
