// Package integrations holds what other programs read of this repository to the
// commands that it has: releases, krew, GitHub Actions, GitLab, pre-commit,
// Renovate. It has no code of its own.
package integrations

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/test/support/program"
)

const top = "../../.."

var commands = program.Folder{Commands: []string{"bake", "verify"}}

func TestMain(m *testing.M) { commands.Main(m) }

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err)
	}
}

// Krew asks for the archives that a release has.
func TestKrew(t *testing.T) {
	var release struct {
		Builds   []struct{ Goos, Goarch []string }
		Archives []struct {
			NameTemplate string `yaml:"name_template"`
		}
	}
	decode(t, read(t, ".goreleaser.yaml"), &release)
	var want []string
	for _, goos := range release.Builds[0].Goos {
		for _, goarch := range release.Builds[0].Goarch {
			ext := ".tar.gz"
			if goos == "windows" {
				ext = ".zip"
			}
			name := strings.NewReplacer("{{ .Tag }}", "v1.2.3", "{{ .Os }}", goos, "{{ .Arch }}", goarch).Replace(release.Archives[0].NameTemplate)
			want = append(want, goos+"/"+goarch+" "+name+ext)
		}
	}
	uri := regexp.MustCompile(`\{\{ addURIAndSha "([^"]*)" .TagName \}\}`)
	text := strings.ReplaceAll(uri.ReplaceAllString(read(t, ".krew.yaml"), "uri: $1"), "{{ .TagName }}", "v1.2.3")
	var plugin struct {
		Spec struct {
			Platforms []struct {
				URI, Bin string
				Files    []struct{ From, To string }
				Selector struct {
					MatchLabels struct{ OS, Arch string } `yaml:"matchLabels"`
				}
			}
		}
	}
	decode(t, text, &plugin)
	var got []string
	for _, p := range plugin.Spec.Platforms {
		at := p.Selector.MatchLabels
		got = append(got, at.OS+"/"+at.Arch+" "+filepath.Base(p.URI))
		if p.Bin != map[bool]string{true: "verify.exe", false: "verify"}[at.OS == "windows"] {
			t.Errorf("%s: %s", at.OS, p.Bin)
		}
		if !slices.Contains(p.Files, struct{ From, To string }{"node/verify.exe", "node"}) {
			t.Errorf("%s: there is no program for nodes", at.OS)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("krew asks for\n%q, a release has\n%q", got, want)
	}
}

// A release has the images that make release-files writes, in its sums too.
func TestReleasedImages(t *testing.T) {
	type files []struct{ Glob string }
	var release struct {
		Checksum, Release struct {
			Extra files `yaml:"extra_files"`
		}
	}
	decode(t, read(t, ".goreleaser.yaml"), &release)
	recipe, err := exec.CommandContext(t.Context(), "make", "-C", top, "-n", "release-files").Output()
	if err != nil {
		t.Fatal(err)
	}
	var want files
	for _, c := range commands.Commands {
		want = append(want, struct{ Glob string }{"_output/release/" + c + "-image.tar"})
	}
	if !strings.Contains(string(recipe), "--tarball _output/release/$c-image.tar") || !slices.Equal(release.Checksum.Extra, want) || !slices.Equal(release.Release.Extra, want) {
		t.Errorf("goreleaser takes %v and %v, and make writes\n%s", release.Checksum.Extra, release.Release.Extra, recipe)
	}
}

// run runs a line of a pipeline in bash where both commands are on PATH, and go
// only says what it is asked for.
func run(t *testing.T, line string, env ...string) (string, int) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho go \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", line)
	cmd.Dir = top
	cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+commands.Path(t)+":"+os.Getenv("PATH"), "SOURCE_DATE_EPOCH=1795132800", "GOBIN="+commands.Path(t)), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

const skew = "verify skew --from 4.19 --to 4.20 --manifests examples/cluster-4.19-vsphere"

func TestAction(t *testing.T) {
	var action struct {
		Runs struct {
			Steps []struct{ Name, Run, Uses string }
		}
	}
	decode(t, read(t, "action.yml"), &action)
	steps := map[string]string{}
	for _, s := range action.Runs.Steps {
		steps[s.Name] = s.Run
		if s.Uses != "" && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(s.Uses) {
			t.Errorf("%s isn't pinned by its commit", s.Uses)
		}
	}
	temp := t.TempDir()
	summary, path := filepath.Join(temp, "summary"), filepath.Join(temp, "path")
	env := []string{"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + summary, "GITHUB_PATH=" + path, "VERSION=v1.2.3"}
	if out, code := run(t, steps["install"], env...); code != 0 || !strings.Contains(out, "go install github.com/winbake/winbake/cmd/bake@v1.2.3 github.com/winbake/winbake/cmd/verify@v1.2.3") {
		t.Errorf("install: %d, %s", code, out)
	}
	for _, tt := range []struct {
		run, want string
		code      int
	}{
		{skew + " -o markdown", "## ", 0},
		{skew, "```\nWARN ", 0},
		{skew + " --fail-on=warn", "```\nWARN ", 2},
	} {
		if err := os.RemoveAll(summary); err != nil {
			t.Fatal(err)
		}
		out, code := run(t, steps["run"], append(env, "RUN="+tt.run)...)
		text, err := os.ReadFile(summary)
		if code != tt.code || err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s: exit code %d, summary %s, %v\n%s", tt.run, code, text, err, out)
		}
	}
}

func TestGitLab(t *testing.T) {
	_, job, _ := strings.Cut(read(t, "ci/gitlab/winbake.yml"), "\n---\n")
	var jobs map[string]struct{ Script []string }
	decode(t, job, &jobs)
	script := strings.ReplaceAll(strings.Join(jobs["winbake"].Script, "\n"), "winbake.out", filepath.Join(t.TempDir(), "out"))
	out, code := run(t, script, "VERSION=v1.2.3", "RUN="+skew+" --fail-on=warn")
	if code != 2 || !strings.Contains(out, "cmd/verify@v1.2.3\n") || !strings.Contains(out, "WARN ") {
		t.Errorf("%d\n%s", code, out)
	}
}

func TestPreCommit(t *testing.T) {
	var hooks []struct{ ID, Entry, Files, Language string }
	decode(t, read(t, ".pre-commit-hooks.yaml"), &hooks)
	if len(hooks) == 0 {
		t.Fatal("no hooks")
	}
	for _, h := range hooks {
		if out, code := run(t, h.Entry); code != 0 {
			t.Errorf("%s: %s: %d\n%s", h.ID, h.Entry, code, out)
		}
		if h.Language != "system" {
			t.Errorf("%s: pre-commit would compile this repository", h.ID)
		}
		if !regexp.MustCompile(h.Files).MatchString("a/versions.yaml") {
			t.Errorf("%s doesn't run for versions.yaml", h.ID)
		}
	}
}

// renovated are the dependencies that a manager of the Renovate preset finds in
// a file, as its groups' values.
func renovated(t *testing.T, datasource, name, text string) (found []string) {
	t.Helper()
	var preset struct {
		CustomManagers []struct {
			ManagerFilePatterns, MatchStrings []string
			DatasourceTemplate                string
		}
	}
	if err := json.Unmarshal([]byte(read(t, "default.json")), &preset); err != nil {
		t.Fatal(err)
	}
	for _, m := range preset.CustomManagers {
		if m.DatasourceTemplate != datasource {
			continue
		}
		if !regexp.MustCompile(strings.Trim(m.ManagerFilePatterns[0], "/")).MatchString(name) {
			t.Errorf("%s doesn't read %s", datasource, name)
		}
		for _, groups := range regexp.MustCompile(m.MatchStrings[0]).FindAllStringSubmatch(text, -1) {
			found = append(found, strings.Join(groups[1:], " "))
		}
	}
	return found
}

// Renovate finds each module of versions.yaml with its version.
func TestRenovate(t *testing.T) {
	for _, name := range []string{"versions.yaml", "examples/openshift-4.15/versions.yaml"} {
		file, err := pins.Load(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, c := range file.Components {
			if c.Module != "" {
				want = append(want, c.Module+" "+c.Version)
			}
		}
		if got := renovated(t, "go", name, read(t, name)); len(want) < 10 || !slices.Equal(got, want) {
			t.Errorf("%s: Renovate finds\n%q, there are\n%q", name, got, want)
		}
	}
}

// Renovate finds the commits of branches, as bake driver --pins writes them, and
// those of tags.
func TestRenovateGit(t *testing.T) {
	cmd := commands.Command(t, "bake", "driver", "azure-disk", "smb", "--for", "4.20", "--pins")
	drivers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := renovated(t, "git-refs", "a/versions.yaml", string(drivers))
	if len(found) != 2 || !regexp.MustCompile(`^https://github.com/openshift/azure-disk-csi-driver release-4.20 [0-9a-f]{40}$`).MatchString(found[0]) {
		t.Errorf("%q in\n%s", found, drivers)
	}
	commit := strings.Repeat("1", 40)
	const tagged = "  - name: csi-proxy\n    git: https://example.com/csi-proxy\n    commit: %s\n    version: v1.2.3\n"
	text := fmt.Sprintf(tagged, commit)
	if got := renovated(t, "git-tags", "versions.yaml", text+string(drivers)); !slices.Equal(got, []string{"https://example.com/csi-proxy " + commit + " v1.2.3"}) {
		t.Errorf("%q", got)
	}
}
