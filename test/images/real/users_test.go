package real

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// somebody is a user who is nobody here.
const somebody = "65533"

// bash runs a script and returns what it printed.
func bash(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Files of somebody else that lie where bake keeps its own give no commands: neither a
// cache that somebody else owns or may write to, nor a git repository in a cache of ours
// (restored as root from an archive that keeps owners), whose configuration names programs.
func TestFilesOfOthersGiveNoCommands(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("only root can give a file to somebody else")
	}
	work, err := os.MkdirTemp(scratch, "users-") //nolint:usetesting // t.TempDir is below TMPDIR
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(work, "mark")
	commit, err := bash(t, work, `git init -q source && cd source && printf 'package main\n\nfunc main() {}\n' > main.go &&
printf 'module example.com/m\n\ngo 1.26\n' > go.mod && git add . &&
git -c user.name=t -c user.email=t@example.com commit -qm start && git rev-parse HEAD`)
	if err != nil {
		t.Fatal(commit, err)
	}
	conf := sha256.Sum256([]byte("version = 2\n"))
	pins := fmt.Sprintf(`apiVersion: winbake.dev/v1
release: "4.21"
go: local
components:
  - {name: conf, file: conf.toml, sha256: %x, payload: containerd/conf.toml}
  - {name: m, git: "file://%s/source", commit: %s, package: ., payload: m.exe}
`, conf, work, strings.TrimSpace(commit))
	for name, text := range map[string]string{"conf.toml": "version = 2\n", "versions.yaml": pins} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bake := filepath.Join(tools(t), "bake")
	run := func(args string) (string, error) { return bash(t, work, bake+" "+args, "XDG_CACHE_HOME="+work+"/xdg") }
	if out, err := run("lock -q && " + bake + " build -q"); err != nil {
		t.Fatal(out, err)
	}
	cache := filepath.Join(work, "xdg/winbake")

	for _, damage := range []struct{ name, script, undo, says string }{
		{"the cache is somebody else's", "chown " + somebody + " " + cache, "chown 0 " + cache, "belongs to the user " + somebody},
		{"others may write to the cache", "chmod o+w " + cache, "chmod o-w " + cache, "may be written to by others"},
		{"a repository in it is somebody else's", "chown -R " + somebody + " " + cache + "/git", bake + " cache clean --cache-dir " + cache, "belongs to somebody else"},
	} {
		// Each name of a program that git reads from the configuration of a repository, for
		// the verbs that bake uses, and a hook.
		evil := fmt.Sprintf(`for repo in $(find %s/git -mindepth 1 -maxdepth 1 -type d); do
git --git-dir=$repo config core.fsmonitor 'touch %[2]s'
git --git-dir=$repo config core.sshCommand 'touch %[2]s'
git --git-dir=$repo config core.gitProxy 'touch %[2]s'
git --git-dir=$repo config credential.helper '!touch %[2]s'
git --git-dir=$repo config uploadpack.packObjectsHook 'touch %[2]s'
printf '#!/bin/sh\ntouch %[2]s\n' > $repo/hooks/post-checkout 2>/dev/null || { mkdir -p $repo/hooks; printf '#!/bin/sh\ntouch %[2]s\n' > $repo/hooks/post-checkout; }
chmod +x $repo/hooks/post-checkout
done
`, cache, mark)
		if out, err := bash(t, work, evil+damage.script); err != nil {
			t.Fatal(out, err)
		}
		if out, err := bash(t, work, "rm -rf "+cache+"/blobs "+cache+"/actions && rm -rf versions.lock"); err != nil {
			t.Fatal(out, err)
		}
		out, err := run("lock -q")
		if err == nil || !strings.Contains(out, damage.says) || !strings.Contains(out, "fix: ") {
			t.Errorf("%s: %v\n%s", damage.name, err, out)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: a program of theirs ran", damage.name)
		}
		if out, err := bash(t, work, damage.undo); err != nil {
			t.Fatal(out, err)
		}
	}
	if out, err := run("lock -q"); err != nil {
		t.Error("after the last fix:", out, err)
	}
}
