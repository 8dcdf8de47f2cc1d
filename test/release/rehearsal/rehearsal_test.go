//go:build rehearsal

// Package rehearsal installs what goreleaser has made in dist/ and packer/plugin/dist, in
// an empty home, and comes to the results of README's three readers with that alone: make
// release-rehearsal runs it. It has no code of its own.
package rehearsal

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/packer"
)

const top = "../../.."

func dist(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(top, "dist", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// matching are the files of dist that a pattern names.
func matching(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(dist(t, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSums: each archive, image and SBOM is in SHA256SUMS, with its sum.
func TestSums(t *testing.T) {
	f, err := os.Open(dist(t, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		path := dist(t, name)
		if strings.HasSuffix(name, "-image.tar") { // goreleaser takes it from where it was made
			path = filepath.Join(top, "_output/release", regexp.MustCompile(`(bake|verify)-image\.tar$`).FindString(name))
		}
		data, err := os.ReadFile(path)
		if !ok || err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != sum {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		names = append(names, name)
	}
	archives := matching(t, "winbake_*_*_*.tar.gz")
	archives = append(archives, matching(t, "winbake_*_*_*.zip")...)
	if len(archives) != 6 {
		t.Errorf("%d archives: %q", len(archives), archives)
	}
	for _, a := range archives {
		name := filepath.Base(a)
		if !slices.Contains(names, name) || !slices.Contains(names, name+".sbom.json") {
			t.Errorf("%s or its SBOM has no sum", name)
		}
		data, err := os.ReadFile(a + ".sbom.json")
		var doc struct {
			Packages []struct{ Name string }
		}
		if err == nil {
			err = json.Unmarshal(data, &doc)
		}
		if err != nil || len(doc.Packages) < 50 {
			t.Errorf("%s: %d packages, %v", name, len(doc.Packages), err)
		}
	}
}

// home is an empty home, with what it takes from the release.
type home struct {
	dir string
	env []string
}

func (h home) run(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = h.dir, h.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	t.Logf("%s\n%s", script, out)
	return string(out)
}

// newHome unpacks the archive for this machine, from a file server, as docs/install.md
// says.
func newHome(t *testing.T) home {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(dist(t, ""))))
	t.Cleanup(server.Close)
	archives := matching(t, "winbake_*_linux_amd64.tar.gz")
	if len(archives) != 1 {
		t.Fatalf("%q", archives)
	}
	h := home{dir: t.TempDir()}
	h.env = []string{"HOME=" + h.dir, "PATH=" + h.dir + "/.local/bin:" + os.Getenv("PATH"), "ARCHIVE=" + server.URL + "/" + filepath.Base(archives[0]), "GOFLAGS=-modcacherw"}
	for _, name := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOMODCACHE", "HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(name); ok {
			h.env = append(h.env, name+"="+v)
		}
	}
	h.run(t, `mkdir -p .local/bin all && curl -sSfO "$ARCHIVE" && tar -xf winbake_*.tar.gz -C .local/bin bake verify node && tar -xf winbake_*.tar.gz -C all
ls all; test -s all/LICENSE; test -s all/NOTICE; test -s all/THIRD-PARTY.txt; test -x all/kubectl_complete-winbake; test -s all/man/bake-payload.1; test -s all/completions/verify.bash
bake version; verify version`)
	return h
}

// TestThreeReaders: a verdict with its plan, a template with a payload that verify
// accepts, and a payload, of what was installed alone. The pins are those of a clone.
func TestThreeReaders(t *testing.T) {
	h := newHome(t)
	clone, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	h.run(t, `bake manifests csi-driver vsphere --for 4.19 --out driver
verify skew --from 4.19 --to 4.20 --manifests driver --static
verify skew plan --from 4.19 --to 4.20 --manifests driver --static > plan.md; grep -q 'After the update' plan.md`)
	out := h.run(t, `git clone -q `+clone+` clone && cd clone
bake payload --only kube-log-runner --layout ../image
verify payload ../image -f versions.yaml --only kube-log-runner`)
	if !regexp.MustCompile(`image@sha256:[0-9a-f]{64}`).MatchString(out) {
		t.Errorf("no digest:\n%s", out)
	}
	h.run(t, `bake template vsphere-iso --out golden --payload image && verify template golden`)
	h.run(t, `ssh-keygen -q -t ed25519 -N "" -f id
cat > prod.pkrvars.hcl <<END
vcenter_server       = "vcenter.example.com"
vcenter_username     = "packer"
datacenter           = "dc"
cluster              = "cluster"
datastore            = "ds"
network              = "VM Network"
iso_path             = "[ds] windows.iso"
authorized_keys_file = "$HOME/id.pub"
END`)
	plugins, err := filepath.Glob(filepath.Join(top, "packer/plugin/dist/plugin_linux_amd64_v1/packer-plugin-winbake_*"))
	if err != nil || len(plugins) != 1 {
		t.Fatal(plugins, err)
	}
	p := packer.New(t, packer.Packers[len(packer.Packers)-1], packer.Plugin("vsphere"))
	p.Install(t, plugins[0], packer.OwnSource)
	p.Env = []string{"PKR_VAR_admin_password=Rehearsal-1-rehearsal", "PKR_VAR_vcenter_password=Rehearsal-1-rehearsal"}
	if out, err := p.Run(t.Context(), filepath.Join(h.dir, "golden"), "validate", "-var-file=../prod.pkrvars.hcl", "."); err != nil || !strings.Contains(out, "The configuration is valid.") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestKubectlPlugin: kubectl finds the plugin under the name that krew gives it.
func TestKubectlPlugin(t *testing.T) {
	h := newHome(t)
	if out := h.run(t, `ln -s verify .local/bin/kubectl-winbake && kubectl-winbake skew --help`); !strings.Contains(out, "kubectl winbake skew") {
		t.Errorf("%s", out)
	}
}

// TestPackerInit has packer init fetch the plugin from a played github.com.
func TestPackerInit(t *testing.T) {
	plugins, err := filepath.Abs(filepath.Join(top, "packer/plugin/dist"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-tags", "e2e", "-run", "TestInit$", "./e2e")
	cmd.Dir = filepath.Join(top, "packer/plugin")
	cmd.Env = append(os.Environ(), "DIST="+plugins)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSizes: verify has at most 55 MB.
func TestSizes(t *testing.T) {
	for _, name := range []string{"bake_linux_amd64_v1/bake", "verify_linux_amd64_v1/verify"} {
		info, err := os.Stat(dist(t, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f MB", name, float64(info.Size())/1e6)
		if strings.HasPrefix(name, "verify") && info.Size() > 55e6 {
			t.Errorf("verify has %d bytes", info.Size())
		}
	}
}
