package proof

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cli/bake"
)

// The scanners, and the Go project's database of vulnerabilities, which the module proxy
// has too: https://go.dev/doc/security/vuln/database.
const (
	govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"
	osvScanner  = "github.com/google/osv-scanner/v2/cmd/osv-scanner@v2.5.0"
	vulndb      = "golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018"
)

// TestScanners: govulncheck finds the symbols of a program, and osv-scanner the package
// URLs of its SBOM. host-local 1.7.1 has a vulnerability of its own module.
func TestScanners(t *testing.T) {
	const known, module = "GO-2025-4222", "github.com/containernetworking/plugins"
	top, err := filepath.Abs("../../../versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	t.Chdir(bin)
	ran := func(want int, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	ran(0, "go", "install", govulncheck)
	ran(0, "go", "install", osvScanner)
	var db struct{ Dir string }
	if err := json.Unmarshal([]byte(ran(0, "go", "mod", "download", "-json", vulndb)), &db); err != nil {
		t.Fatal(err)
	}
	reports := filepath.Join(db.Dir, "data", "osv")
	ran(0, "go", "mod", "init", "example.com/scanners")
	ran(0, "go", "get", "golang.org/x/vulndb/cmd/indexdb@"+strings.SplitN(vulndb, "@", 2)[1])
	ran(0, "go", "run", "golang.org/x/vulndb/cmd/indexdb", "-vulns", reports, "-out", filepath.Join(bin, "db"))
	zipped(t, reports, filepath.Join(bin, "osv-scalibr", "Go", "all.zip"))

	if out, code := run(t, bake.New, "payload", "-f", top, "--only", "host-local", "--dir", "tree", "--format", "flat", "--sbom", "cyclonedx"); code != 0 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	var exe string
	err = filepath.WalkDir("tree", func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "host-local.exe" {
			exe = path
		}
		return err
	})
	if err != nil || exe == "" {
		t.Fatalf("no host-local.exe in tree: %v", err)
	}
	out := ran(3, "./govulncheck", "-mode=binary", "-db", "file://"+filepath.ToSlash(bin)+"/db", exe)
	for _, want := range []string{known, "Found in: " + module + "@v1.7.1", "Vulnerable symbols found:\n      #1: "} {
		if !strings.Contains(out, want) {
			t.Errorf("govulncheck doesn't say %q\n%s", want, out)
		}
	}
	out = ran(1, "./osv-scanner", "scan", "source", "--offline", "--local-db-path", bin, "-L", "tree.cdx.json")
	for _, want := range []string{known, module, "1.7.1"} {
		if !strings.Contains(out, want) {
			t.Errorf("osv-scanner doesn't say %q\n%s", want, out)
		}
	}
}

// zipped packs the reports as https://osv-vulnerabilities.storage.googleapis.com/Go/all.zip does.
func zipped(t *testing.T, dir, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
