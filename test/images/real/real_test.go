// Package real compiles the real csi-proxy.exe, both lines of it, and proves
// what the project promises of it. It has no code of its own.
package real

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/winbake/winbake/test/support/program"
)

const (
	current = "versions.yaml"                         // csi-proxy v1.3.0
	older   = "examples/openshift-4.15/versions.yaml" // csi-proxy v1.1.3
)

// machine is a person's surroundings: a clone, a home, caches, settings.
type machine struct {
	dir string // the repository
	env []string
	uid uint32
}

// scratch is what the tests here write into.
var scratch string

func TestMain(m *testing.M) {
	code := func() int {
		parent := ""
		if os.Getuid() == 0 {
			parent = "/var/tmp" // the other user gets there, and not into everybody's TMPDIR
		}
		var err error
		if scratch, err = os.MkdirTemp(parent, "winbake-real-"); err == nil {
			err = os.Chmod(scratch, 0o755)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		return m.Run()
	}()
	os.Exit(code)
}

// build builds bake and verify once.
var build = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "bin")
	if err := errors.Join(os.Mkdir(dir, 0o755), program.Build(dir, []string{"bake", "verify"})); err != nil {
		return "", err
	}
	if out, err := exec.Command("chmod", "-R", "a+rX", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func tools(t *testing.T) string {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (m machine) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), name), args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), m.env...)
	if m.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: m.uid, Gid: m.uid}}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// built is an item of `bake build -o json`.
type built struct{ Component, Digest, Path string }

func (m machine) build(t *testing.T, file string) built {
	t.Helper()
	var all struct{ Items []built }
	if err := json.Unmarshal([]byte(m.run(t, "bake", "build", "csi-proxy", "-f", file, "-o", "json")), &all); err != nil {
		t.Fatal(err)
	}
	return all.Items[0]
}

func repository(t *testing.T) string {
	t.Helper()
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// csi-proxy up to 1.3 answers with the wrong volume without winsymlink=0
// (https://github.com/kubernetes-csi/csi-proxy/issues/361), and with
// winreadlinkvolume=0 Azure Disk breaks
// (https://github.com/kubernetes/kubernetes/issues/129080).
func TestGodebugOfBothLines(t *testing.T) {
	m := machine{dir: repository(t)}
	for _, file := range []string{current, older} {
		b := m.build(t, file)
		out, err := exec.CommandContext(t.Context(), "go", "version", "-m", b.Path).Output()
		if err != nil {
			t.Fatal(err)
		}
		godebug := ""
		for line := range strings.Lines(string(out)) {
			if _, value, ok := strings.Cut(line, "DefaultGODEBUG="); ok {
				godebug = strings.TrimSpace(value)
			}
		}
		settings := "," + godebug + ","
		if !strings.Contains(settings, ",winsymlink=0,") {
			t.Errorf("%s: DefaultGODEBUG=%s lacks winsymlink=0", file, godebug)
		}
		if strings.Contains(settings, ",winreadlinkvolume=0,") {
			t.Errorf("%s: DefaultGODEBUG=%s has winreadlinkvolume=0", file, godebug)
		}
		tree := filepath.Join(t.TempDir(), "tree")
		m.run(t, "bake", "payload", "-f", file, "--only", "csi-proxy", "--dir", tree)
		m.run(t, "verify", "payload", tree, "-f", file, "--only", "csi-proxy")
	}
}

// Other folder, cache, home, user, umask, time zone and core count: the same
// bytes, and so the same image.
func TestSameBytesElsewhere(t *testing.T) {
	here := machine{dir: repository(t)}
	first := here.run(t, "bake", "payload", "-f", older, "--only", "csi-proxy", "--layout", filepath.Join(t.TempDir(), "image"))

	away, err := os.MkdirTemp(scratch, "away-") //nolint:usetesting // t.TempDir is below TMPDIR
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-r", filepath.Join(repository(t), "examples/openshift-4.15"), filepath.Join(away, "clone")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	there := machine{dir: filepath.Join(away, "clone"), env: []string{
		"HOME=" + away + "/home", "XDG_CACHE_HOME=" + away + "/xdg", "GOCACHE=" + away + "/gocache", "GOPATH=" + away + "/go", "GOMODCACHE=" + away + "/go/pkg/mod",
		"TMPDIR=" + away, "TZ=Asia/Tokyo", "GOMAXPROCS=3", "LANG=tr_TR.UTF-8",
		// What a person may have set that must not reach the bytes.
		"GOFLAGS=-ldflags=-s -tags=foo", "GOAMD64=v3", "GODEBUG=winsymlink=1", "CGO_ENABLED=1", "GOEXPERIMENT=",
	}}
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", away).Run() }) // the test's context has ended by then
	if os.Getuid() == 0 {
		there.uid = 65534
		if out, err := exec.CommandContext(t.Context(), "chown", "-R", "65534:65534", away).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	second := there.run(t, "bake", "payload", "--only", "csi-proxy", "--layout", filepath.Join(away, "image"))
	if a, b := digest(first), digest(second); a != b {
		t.Errorf("the image is %s here and %s there", a, b)
	}
}

func digest(ref string) string {
	_, d, _ := strings.Cut(strings.TrimSpace(ref), "@")
	return d
}
