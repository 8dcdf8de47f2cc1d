package apiserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/test/support/filelock"
)

// What the module in folder kube builds, of k8s.io/kubernetes/cmd.
const (
	server = "kube-apiserver"
	client = "kubectl"
)

// Program is Build for another program of k8s.io/kubernetes/cmd: kubelet, or one of the
// control plane.
func Program(ctx context.Context, name string) (string, error) { return build(ctx, name) }

// Module is where the module cache has a module that the module in dir requires, and its
// version.
func Module(ctx context.Context, dir, path string) (source, version string, err error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("download %s: %w\n%s", path, err, out)
	}
	var module struct{ Dir, Version string }
	err = json.Unmarshal(out, &module)
	return module.Dir, module.Version, err
}

// Build returns the path of a kube-apiserver, which it builds if the user's
// cache folder has none of these sources. It says so on standard error: the
// first build takes minutes. Test packages that run at the same time wait for
// one build.
func Build(ctx context.Context) (string, error) { return build(ctx, server) }

// Kubectl is Build for the kubectl of the same sources. Most of what it links
// is the server's too, so that the second of the two takes a fraction of the
// first.
func Kubectl(ctx context.Context) (string, error) { return build(ctx, client) }

func build(ctx context.Context, program string) (string, error) {
	src, err := findSource(ctx)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "winbake-test", "kubernetes-"+src.version+"-"+src.sum[:16])
	binary := filepath.Join(dir, program)
	if built(binary) {
		return binary, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := filelock.Wait(ctx, binary+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if built(binary) {
		return binary, nil
	}
	return binary, src.build(ctx, program, binary)
}

func built(binary string) bool {
	_, err := os.Stat(binary)
	return err == nil
}

// source is the module that pins the two.
type source struct {
	dir     string
	version string // v1.34.1
	sum     string // of go.mod and go.sum
}

// findSource finds the folder kube next to this package: in the module that
// the tests run in, whatever package's.
func findSource(ctx context.Context) (*source, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOMOD: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	s := &source{dir: filepath.Join(root, "test", "cluster", "apiserver", "kube")}
	mod, err := os.ReadFile(filepath.Join(s.dir, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("find the sources of Kubernetes: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(s.dir, "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("find the sources of Kubernetes: %w", err)
	}
	s.sum = fmt.Sprintf("%x", sha256.Sum256(bytes.Join([][]byte{mod, sum, []byte(runtime.GOARCH)}, nil)))
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Require {
		if r.Mod.Path == "k8s.io/kubernetes" {
			s.version = r.Mod.Version
			return s, nil
		}
	}
	return nil, errors.New(filepath.Join(s.dir, "go.mod") + " requires no k8s.io/kubernetes")
}

// build compiles into a file of its own first: a build that is cut off leaves
// nothing that looks whole. Debugging information, which the linker leaves out,
// costs the compiler a twelfth of its time.
func (s *source) build(ctx context.Context, program, binary string) error {
	began := time.Now()
	fmt.Fprintf(os.Stderr, "building %s %s for the tests, which takes minutes\n", program, s.version)
	temp := binary + ".building"
	// nice, because the tests of other packages are running.
	cmd := exec.CommandContext(ctx, "nice", "-n", "10", "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false",
		"-ldflags="+s.stamps(), "-o", temp, "k8s.io/kubernetes/cmd/"+program)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOOS=", "GOARCH=")
	cmd.SysProcAttr = dieWithParent()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	fmt.Fprintf(os.Stderr, "built %s %s in %s, with %s of processor time\n", program, s.version,
		time.Since(began).Round(time.Second), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Second))
	return os.Rename(temp, binary)
}

// stamps are the linker flags that Kubernetes' own build sets: without them a
// program says that it is v0.0.0-master.
func (s *source) stamps() string {
	majorMinor := strings.TrimPrefix(semver.MajorMinor(s.version), "v")
	major, minor, _ := strings.Cut(majorMinor, ".")
	const pkg = "k8s.io/component-base/version."
	var b strings.Builder
	b.WriteString("-s -w")
	for _, v := range [][2]string{{"gitVersion", s.version}, {"gitMajor", major}, {"gitMinor", minor}, {"gitTreeState", "clean"}} {
		fmt.Fprintf(&b, " -X %s%s=%s", pkg, v[0], v[1])
	}
	return b.String()
}
