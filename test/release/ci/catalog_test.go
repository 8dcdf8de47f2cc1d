package ci

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const catalogFile = "../../../ci/github/catalog.yaml"

// TestCatalogWorkflow lints the workflow, and runs its step that makes the pull request,
// with a git and a gh that note what they are asked for: without a change nothing is.
func TestCatalogWorkflow(t *testing.T) {
	text := read(t, catalogFile)
	for _, e := range lint(t, text) {
		t.Error(e)
	}
	uses := regexp.MustCompile(`uses: \S+`).FindAllString(text, -1)
	for _, u := range uses {
		if !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(u) {
			t.Errorf("%s isn't pinned", u)
		}
	}
	if len(uses) != 2 {
		t.Errorf("%d uses of actions", len(uses))
	}
	steps := workflowSteps(t, catalogFile, "catalog", map[string]string{"${{ github.token }}": "t0ken", "${{ github.repository }}": "me/winbake"})
	if !strings.Contains(steps[0].script, "hack/catalog . make -fetch -clones") {
		t.Errorf("the first step is\n%s", steps[0].script)
	}
	f := &fixture{dir: t.TempDir(), home: t.TempDir()}
	bin := t.TempDir()
	real, err := absolute("git")
	if err != nil {
		t.Fatal(err)
	}
	f.env = append(os.Environ(), "HOME="+f.home, "PATH="+bin+":"+os.Getenv("PATH"))
	data := "internal/cluster/catalog/data"
	err = errors.Join(os.MkdirAll(filepath.Join(f.dir, data), 0o755), os.MkdirAll(filepath.Join(f.dir, "_output"), 0o755))
	for name, script := range map[string]string{
		"git": "#!/bin/sh\n[ \"$1\" != push ] || { echo push \"$@\" >> asked; exit 0; }\nexec " + real + " \"$@\"\n",
		"gh":  "#!/bin/sh\necho gh \"$@\" >> asked\n",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	f.write(t, data+"/releases.yaml", "a: 1\n")
	f.write(t, "_output/catalog.txt", "azure-disk of 4.20: 1.33.1 -> 1.33.2\n")
	f.must(t, "git init -q . && printf '/_output\\n/asked\\n' > .gitignore && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm start")
	request := steps[1]
	if out, err := f.run(t, request); err != nil || exists(filepath.Join(f.dir, "asked")) {
		t.Errorf("without a change: %v\n%s", err, out)
	}
	f.write(t, data+"/releases.yaml", "a: 2\n")
	if out, err := f.run(t, request); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asked := read(t, filepath.Join(f.dir, "asked"))
	if !regexp.MustCompile(`push .*@github\.com/me/winbake catalog-\d{4}-\d\d-\d\d\n`).MatchString(asked) || !regexp.MustCompile(`gh pr create --repo me/winbake --head catalog-`).MatchString(asked) {
		t.Errorf("it asked for\n%s", asked)
	}
	if body := read(t, filepath.Join(f.dir, "_output/body.md")); !strings.Contains(body, "1.33.1 -> 1.33.2") {
		t.Errorf("the text is\n%s", body)
	}
}

// TestReleaseWorkflow: actions by commit, the toolchain of versions.yaml, goreleaser in the
// version that is rehearsed, and rights for a release alone.
func TestReleaseWorkflow(t *testing.T) {
	text := read(t, "../../../ci/github/release.yaml")
	for _, e := range lint(t, text) {
		t.Error(e)
	}
	for _, u := range regexp.MustCompile(`uses: \S+`).FindAllString(text, -1) {
		if !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(u) {
			t.Errorf("%s isn't pinned", u)
		}
	}
	version := regexp.MustCompile(`goreleaser/v2@v\S+`)
	if here, rehearsed := version.FindString(text), version.FindString(read(t, "../../../Makefile")); here == "" || here != rehearsed {
		t.Errorf("a release is made by %s, rehearsed by %s", here, rehearsed)
	}
	pinned := regexp.MustCompile(`\ngo: "(\S+)"`).FindStringSubmatch(read(t, "../../../versions.yaml"))
	if pinned == nil || !strings.Contains(text, "\n  GOTOOLCHAIN: go"+pinned[1]+"\n") {
		t.Errorf("a release isn't compiled by the toolchain of versions.yaml, %q", pinned)
	}
	if !strings.Contains(text, "\npermissions: {}\n") || strings.Count(text, ": write") != 3 {
		t.Error("it has other rights")
	}
}

func absolute(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
