//go:build e2e

package integrations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// renovateVersion is the newest that Node.js 20 runs. It still calls managerFilePatterns
// fileMatch, without slashes.
const renovateVersion = "39.264.1"

// renovate is the program of npm, installed into the user's cache as it was on a
// day: what it needs doesn't change under it.
func renovate(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "winbake-test", "renovate-"+renovateVersion)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(dir, "node_modules/renovate/dist/renovate.js")
	if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
		return main
	}
	cmd := exec.CommandContext(t.Context(), "npm", "install", "--prefix", dir, "--before=2026-11-24", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "renovate@"+renovateVersion)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "done"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return main
}

// TestRenovateItself has Renovate find what it updates in the files of a repository
// with the preset, instead of the regular expressions alone.
func TestRenovateItself(t *testing.T) {
	drivers, err := commands.Command(t, "bake", "driver", "azure-disk", "smb", "--for", "4.20", "--pins").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"renovate.json": regexp.MustCompile(`"managerFilePatterns": \["/(.*)/"\]`).ReplaceAllString(read(t, "default.json"), `"fileMatch": ["$1"]`),
		"versions.yaml": read(t, "versions.yaml"), "examples/openshift-4.15/versions.yaml": read(t, "examples/openshift-4.15/versions.yaml"),
		"git/versions.yaml": string(drivers) + "  - name: a\n    git: https://example.com/a\n    commit: " + strings.Repeat("1", 40) + "\n    version: v1.2.3\n",
	}
	repository := t.TempDir()
	for name, text := range files {
		name = filepath.Join(repository, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", `cd "$0" && git init -q && git add .`, repository).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "node", renovate(t), "--platform=local", "--dry-run=extract", "--onboarding=false", "--require-config=optional", "--enabled-managers=custom.regex")
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "LOG_FORMAT=json", "LOG_LEVEL=info", "RENOVATE_BASE_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := map[string][]string{} // by datasource and file
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			PackageFiles struct {
				Regex []struct {
					PackageFile, DatasourceTemplate string
					Deps                            []struct{ DepName, CurrentValue, CurrentDigest string }
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			continue
		}
		for _, f := range line.PackageFiles.Regex {
			at := f.DatasourceTemplate + " " + f.PackageFile
			for _, d := range f.Deps {
				found[at] = append(found[at], d.DepName+" "+d.CurrentValue+" "+d.CurrentDigest)
			}
		}
	}
	for _, want := range []string{"go versions.yaml", "go examples/openshift-4.15/versions.yaml", "git-refs git/versions.yaml", "git-tags git/versions.yaml"} {
		source, file, _ := strings.Cut(want, " ")
		if n := len(renovated(t, source, file, files[file])); n == 0 || len(found[want]) != n {
			t.Errorf("%s: Renovate finds %q, its expressions %d\n%s", want, found[want], n, out)
		}
		delete(found, want)
	}
	if len(found) > 0 {
		t.Errorf("Renovate finds more: %q", found)
	}
}
