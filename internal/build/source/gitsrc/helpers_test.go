package gitsrc

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

// person gives the test a git configuration of its own, as a person's global
// one, and nothing of this machine's.
func person(t *testing.T, config string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", path)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
}

// run runs git as a person would and returns what it printed.
func run(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// upstream is a bare repository that plays the remote one.
type upstream struct {
	t   *testing.T
	dir string
}

func newUpstream(t *testing.T, init ...string) *upstream {
	t.Helper()
	u := &upstream{t, filepath.Join(t.TempDir(), "upstream.git")}
	run(t, "", "", append([]string{"init", "--quiet", "--bare", "--initial-branch=main", u.dir}, init...)...)
	return u
}

func (u *upstream) url() string { return "file://" + u.dir }

func (u *upstream) git(args ...string) string {
	u.t.Helper()
	return run(u.t, u.dir, "", args...)
}

// commit moves branch main to a commit of just these files and returns it. A
// value "submodule <commit>" makes a submodule of the path. The bytes are
// taken as they are: no attribute is obeyed.
func (u *upstream) commit(parent string, files map[string]string) string {
	u.t.Helper()
	var s strings.Builder
	s.WriteString("commit refs/heads/main\ncommitter t <t@example.com> 1700000000 +0200\ndata 1\nm\n")
	if parent != "" {
		fmt.Fprintf(&s, "from %s\n", parent)
	}
	s.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if hash, ok := strings.CutPrefix(files[path], "submodule "); ok {
			fmt.Fprintf(&s, "M 160000 %s %s\n", hash, path)
			continue
		}
		fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", path, len(files[path]), files[path])
	}
	run(u.t, u.dir, s.String(), "fast-import", "--quiet", "--force")
	return u.git("rev-parse", "refs/heads/main")
}

// wantFault compares err's message and requires advice.
func wantFault(t *testing.T, err error, texts ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("%v (%T) isn't a fault", err, err)
	}
	if f.Fix == "" {
		t.Errorf("%q says nothing of what to do", err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q doesn't say %q", err, text)
		}
	}
}

// wantFiles compares a checkout's files, .git aside, with want.
func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, path := range walk(t, dir) {
		data, err := root.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got[path] = string(data)
	}
	if !maps.Equal(got, want) {
		t.Errorf("checkout holds %q, want %q", got, want)
	}
}

// walk returns the paths of dir's files, without git's own.
func walk(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() != ".git" && !d.IsDir():
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// sh runs what an error tells a person to run.
func sh(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}
