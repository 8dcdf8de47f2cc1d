package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"

	"github.com/winbake/winbake/packer/plugin/version"
)

// release is what .goreleaser.yml says of a build.
type release struct {
	Builds []struct {
		Binary                            string
		Flags, Ldflags, Env, Goos, Goarch []string
	}
	Archives []struct {
		NameTemplate string `yaml:"name_template"`
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
	}
}

// rendered fills a name or flag in as goreleaser does.
func rendered(t *testing.T, text, api string) string {
	t.Helper()
	parsed, err := template.New("").Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = parsed.Execute(&out, map[string]any{"Version": version.Version, "Os": "linux", "Arch": "amd64", "Env": map[string]string{"API_VERSION": api}})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// described is what the plugin says of itself.
type described struct {
	Version    string   `json:"version"`
	API        string   `json:"api_version"`
	Protocol   string   `json:"protocol_version"`
	Sources    []string `json:"datasources"`
	Steps      []string `json:"provisioners"`
	Processors []string `json:"post_processors"`
}

// TestRelease builds the plugin as .goreleaser.yml says: Packer's own check of
// what it describes passes, it is a release and no prerelease, and files have
// the names that packer init looks for.
func TestRelease(t *testing.T) {
	var r release
	if err := yaml.Unmarshal(read(t, ".goreleaser.yml"), &r); err != nil {
		t.Fatal(err)
	}
	b := r.Builds[0]
	var linked []string
	for _, f := range b.Ldflags {
		linked = append(linked, rendered(t, f, ""))
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "packer-plugin-winbake")
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build"}, b.Flags...), "-ldflags="+strings.Join(linked, " "), "-o", binary, ".")...)
	cmd.Env = append(append(os.Environ(), "GOFLAGS="), b.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	sdc(t, dir, "plugin-check", "packer-plugin-winbake")
	out, err := exec.CommandContext(t.Context(), binary, "describe").Output()
	if err != nil {
		t.Fatal(err)
	}
	var d described
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	if d.Version != version.Version || d.API != "x5.0" || d.Protocol != "v2" || !slices.Equal(d.Sources, []string{"payload"}) || !slices.Equal(d.Steps, []string{"node"}) || len(d.Processors) != 0 {
		t.Errorf("a release describes itself as %s", out)
	}
	// https://developer.hashicorp.com/packer/docs/plugins/creation#releasing
	want := "packer-plugin-winbake_v" + version.Version + "_" + d.API + "_linux_amd64"
	for _, name := range []string{b.Binary, r.Archives[0].NameTemplate} {
		if got := rendered(t, name, d.API); got != want {
			t.Errorf("a file is called %s, packer init looks for %s", got, want)
		}
	}
	if got := rendered(t, r.Checksum.NameTemplate, d.API); got != "packer-plugin-winbake_v"+version.Version+"_SHA256SUMS" {
		t.Errorf("the sums are in %s", got)
	}
	if !slices.Contains(b.Goos, runtime.GOOS) || !slices.Contains(b.Goarch, runtime.GOARCH) {
		t.Errorf("a release is for %v and %v", b.Goos, b.Goarch)
	}
}

// TestVersion: without a release's flags it is a prerelease, which no version
// range takes.
func TestVersion(t *testing.T) {
	if got := version.Plugin().FormattedVersion(); !regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+-dev$`).MatchString(got) {
		t.Errorf("the plugin calls itself %s", got)
	}
}
