// Package install installs bake as a user does who has nothing but Go. It has no
// code of its own.
package install

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/test/support/testproxy"
)

const release = "v0.9.1" // one that nobody published

// machine has Go, this module on its proxy, and nothing else of it.
type machine struct {
	t   *testing.T
	dir string
	env []string
}

func (m machine) run(name string, args ...string) string {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), name, args...)
	cmd.Dir, cmd.Env = m.dir, m.env
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("%s %q: %v\n%s%s", filepath.Base(name), args, err, out, trouble.String())
	}
	return strings.TrimSpace(string(out))
}

func newMachine(t *testing.T) machine {
	m := machine{t: t, dir: t.TempDir()}
	proxy := filepath.Join(m.dir, "proxy")
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := testproxy.WriteFolder(proxy, module.Version{Path: app.Module, Version: release}, root, sources(t)); err != nil {
		t.Fatal(err)
	}
	known := strings.Split(strings.TrimSpace(goEnv(t, "GOMODCACHE", "GOPROXY", "GOCACHE")), "\n")
	m.env = append(os.Environ(), "HOME="+m.dir, "GOBIN="+filepath.Join(m.dir, "bin"), "XDG_CACHE_HOME="+filepath.Join(m.dir, "cache"),
		"GOPROXY=file://"+proxy+",file://"+known[0]+"/cache/download,"+known[1], "GOSUMDB=off", "GOCACHE="+known[2],
		// A cache of its own: the next run's module differs under the same version.
		"GOMODCACHE="+filepath.Join(m.dir, "mod"), "GOFLAGS=-trimpath -modcacherw", "CGO_ENABLED=0")
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", m.dir).Run() })
	return m
}

func goEnv(t *testing.T, names ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// sources are the module's files, as a version of it would have them.
func sources(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	var modules []string // of their own
	for _, name := range names {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			modules = append(modules, path.Dir(name)+"/")
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		if _, err := os.Lstat(filepath.Join("../../..", name)); err != nil {
			return true // removed, and not yet from git's index
		}
		return slices.ContainsFunc(modules, func(dir string) bool { return strings.HasPrefix(name, dir) })
	})
}

// firstScreen is what README tells a new user to run: to install, and to try.
func firstScreen(t *testing.T) (install, try string) {
	t.Helper()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\n```sh\n")
	if len(blocks) < 3 {
		t.Fatal("README has no two sh blocks")
	}
	install, _, _ = strings.Cut(blocks[1], "```")
	try, _, _ = strings.Cut(blocks[2], "```")
	return install, try
}

// fromArchive packs what a release's archive has, unpacks it as docs/install.md says
// where there is nothing else, and tries README's commands.
func fromArchive(t *testing.T, bin, exe, try string) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	files := map[string]string{"node/verify.exe": exe}
	for name, folder := range map[string]string{"bake": bin, "verify": bin, "LICENSE": "../../..", "README.md": "../../..", "CHANGELOG.md": "../../.."} {
		files[name] = filepath.Join(folder, name)
	}
	if err := os.MkdirAll(filepath.Join(dir, "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "unpacks one so\n")
	unpack, _, _ := strings.Cut(block, "```")
	_, archive, _ := strings.Cut(unpack, "tar -xf ")
	archive, _, _ = strings.Cut(archive, " ")
	there := machine{t, home, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}}
	there.run("tar", "-czf", archive, "-C", dir, "bake", "verify", "node", "LICENSE", "README.md", "CHANGELOG.md")
	there.run("sh", "-ec", unpack)
	there.env[1] = "PATH=" + filepath.Join(home, ".local", "bin")
	if got := there.run("/bin/sh", "-ec", try); !strings.Contains(got, "WARN    The update from 4.19 to 4.20 is safe as far as is known") {
		t.Errorf("README's first commands print\n%s", got)
	}
}

func TestGoInstall(t *testing.T) {
	m := newMachine(t)
	install, try := firstScreen(t)
	m.run("sh", "-ec", install)
	bin := filepath.Join(m.dir, "bin")
	bake := filepath.Join(bin, "bake")

	var build app.Build
	if err := json.Unmarshal([]byte(m.run(bake, "version", "-o", "json")), &build); err != nil {
		t.Fatal(err)
	}
	if build.Version != release || build.Commit != "" || build.Catalog == "" {
		t.Errorf("%+v", build)
	}

	exe := filepath.Join(m.dir, "verify.exe")
	if got := m.run(bake, "-q", "verify-exe", "--out", exe); got != exe {
		t.Errorf("verify-exe printed %q", got)
	}
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if info.Path != app.Module+"/cmd/verify/node" || info.Main.Version != release {
		t.Errorf("verify.exe is %s of %s", info.Path, info.Main.Version)
	}

	fromArchive(t, bin, exe, try)

	// Without Go there is no program for a node.
	cmd := exec.CommandContext(t.Context(), bake, "verify-exe")
	cmd.Dir, cmd.Env = m.dir, []string{"HOME=" + m.dir, "PATH=/none"}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no go command on PATH") {
		t.Errorf("%v: %s", err, out)
	}

	// The second time needs no network, and gives the same bytes in the cache.
	first, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "GOPROXY=off")
	second, err := os.ReadFile(m.run(bake, "-q", "verify-exe"))
	if err != nil || string(second) != string(first) {
		t.Errorf("another verify.exe: %v", err)
	}
}
