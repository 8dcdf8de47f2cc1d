//go:build cluster

package tekton

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/program"
)

// What node.sh gives the host, and what listens there.
const (
	host      = "10.99.0.254"
	images    = host + ":5000"
	protected = host + ":5001" // wants a login, and fails once
	modules   = host + ":5002"
	gitPort   = "5003"
)

const user, password = "me", "s3cr:t/+ü"

// cluster is one node of Kubernetes with Tekton, and what it talks to.
type cluster struct {
	t *testing.T
	// dir has its logs and kubeconfig, bin its programs; work is a folder for tests.
	dir, bin, work string
	// builder is the image that the tasks run in.
	builder string
	failed  atomic.Int64
}

func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), work: t.TempDir()}
	c.bin = filepath.Join(c.dir, "bin")
	c.build()
	script, err := filepath.Abs("node.sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.t = t
		c.logs()
		if _, err := c.command(context.Background(), c.dir, "bash", script, "stop"); err != nil {
			t.Error(err)
		}
	})
	c.run(c.dir, "bash", script, "start")
	c.serve()
	push(t, images+"/pause:1", content{files: map[string]string{"/pause": filepath.Join(c.bin, "pause")}}, v1.Config{Entrypoint: []string{"/pause"}, User: "65535"})
	c.until("the API server is there", func() bool {
		_, err := os.Stat(filepath.Join(c.dir, "kubeconfig"))
		return err == nil
	})
	c.until("the node is ready", func() bool {
		return c.asks("get", "nodes", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`) == "True"
	})
	return c
}

// build makes all programs, or takes them from the user's cache folder.
func (c *cluster) build() {
	c.t.Helper()
	if err := os.Mkdir(c.bin, 0o755); err != nil {
		c.t.Fatal(err)
	}
	for _, p := range []string{"kube-apiserver", "kubectl", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"} {
		built, err := apiserver.Program(c.t.Context(), p)
		if err == nil {
			err = os.Link(built, filepath.Join(c.bin, p))
			if err != nil {
				err = os.Symlink(built, filepath.Join(c.bin, p))
			}
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	if err := program.Build(c.bin, []string{"bake", "verify"}, "CGO_ENABLED=0"); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "pause.go"), []byte("package main\n\nimport \"time\"\n\nfunc main() {\n\tfor {\n\t\ttime.Sleep(time.Hour)\n\t}\n}\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.run(c.dir, "env", "CGO_ENABLED=0", "GOFLAGS=", "go", "build", "-o", "bin/pause", "pause.go")
}

// serve starts what the node's pods talk to: registries, a proxy of the modules that this
// machine has, and git.
func (c *cluster) serve() {
	c.t.Helper()
	quiet := registry.Logger(log.New(new(bytes.Buffer), "", 0))
	disk := func() http.Handler {
		return registry.New(quiet, registry.WithBlobHandler(registry.NewDiskBlobHandler(c.t.TempDir())))
	}
	cache, err := exec.CommandContext(c.t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		c.t.Fatal(err)
	}
	login := disk()
	for at, h := range map[string]http.Handler{
		images:  disk(),
		modules: http.FileServer(http.Dir(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"))),
		protected: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, secret, ok := r.BasicAuth()
			if !ok || name != user || secret != password {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			if r.Method == http.MethodPatch && c.failed.Add(1) == 1 {
				http.Error(w, "not now", http.StatusServiceUnavailable)
				return
			}
			login.ServeHTTP(w, r)
		}),
	} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			c.t.Fatal(err)
		}
		s := &http.Server{Handler: h, ErrorLog: log.New(new(bytes.Buffer), "", 0)} //nolint:gosec // a test's
		go s.Serve(l)                                                              //nolint:errcheck // until it is closed
		c.t.Cleanup(func() { _ = s.Close() })
	}
	core := c.run(c.dir, "git", "--exec-path")
	daemon := exec.CommandContext(c.t.Context(), filepath.Join(core, "git-daemon"), "--listen="+host, "--port="+gitPort, "--base-path="+c.work, "--export-all", "--reuseaddr")
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := daemon.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
}

// installTekton builds Tekton's programs, pushes them as images, and applies its objects.
func (c *cluster) installTekton() {
	c.t.Helper()
	tools := builder(c.t)
	tools.files["/built/bake"], tools.files["/built/verify"] = filepath.Join(c.bin, "bake"), filepath.Join(c.bin, "verify")
	c.builder = push(c.t, images+"/builder:1", tools, v1.Config{Env: []string{"PATH=/usr/local/go/bin:/usr/bin", "GOPROXY=http://" + modules}})
	source, version, err := apiserver.Module(c.t.Context(), filepath.Join("..", "..", "release", "ci"), "github.com/tektoncd/pipeline")
	if err != nil {
		c.t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		c.t.Fatal(err)
	}
	bin := filepath.Join(cache, "winbake-test", "tekton-"+version)
	names := []string{"entrypoint", "nop", "workingdirinit", "sidecarlogresults", "controller", "webhook"}
	build := []string{"GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "nice", "go", "build", "-C", source, "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", bin + "/"}
	for _, n := range names {
		build = append(build, "./cmd/"+n)
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		c.t.Fatal(err)
	}
	c.run(c.dir, "env", build...)
	replace := []string{": \"devel\"", `: "` + version + `"`}
	for _, n := range names {
		at := "/ko-app/" + n
		ref := push(c.t, images+"/"+n+":1", content{files: map[string]string{at: filepath.Join(bin, n)}}, v1.Config{Entrypoint: []string{at}, User: "65532:65532", Env: []string{"PATH=/ko-app"}})
		replace = append(replace, "ko://github.com/tektoncd/pipeline/cmd/"+n+`"`, ref+`"`, "ko://github.com/tektoncd/pipeline/cmd/"+n+"\n", ref+"\n")
	}
	objects := filepath.Join(c.dir, "tekton")
	for i, pattern := range []string{"100-namespace/*", "[2-5]*", "300-crds/*", "clusterrole-*", "config-*", "controller", "webhook"} {
		files, err := filepath.Glob(filepath.Join(source, "config", pattern+".yaml"))
		if err != nil || len(files) == 0 {
			c.t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				c.t.Fatal(err)
			}
			// The image with the shell of Tekton's own scripts can't be pulled here.
			text = regexp.MustCompile(`cgr\.dev/chainguard/busybox@sha256:[0-9a-f]+`).ReplaceAll(text, []byte(c.builder))
			text = []byte(strings.NewReplacer(replace...).Replace(string(text)))
			to := filepath.Join(objects, fmt.Sprintf("%d-%s", i, filepath.Base(file)))
			if err := errors.Join(os.MkdirAll(objects, 0o755), os.WriteFile(to, text, 0o600)); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	c.kubectl("apply", "-f", filepath.Join(objects, "0-100-namespace.yaml"))
	c.until("Tekton's objects are taken", func() bool {
		_, err := c.tryKubectl("apply", "--server-side", "-f", objects)
		return err == nil
	})
	c.kubectl("-n", "tekton-pipelines", "wait", "--for=condition=Available", "deployment", "--all", "--timeout=1h")
}

func (c *cluster) command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, exit.Stderr)
	}
	return string(out), err
}

func (c *cluster) run(dir, name string, args ...string) string {
	c.t.Helper()
	out, err := c.command(c.t.Context(), dir, name, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func (c *cluster) kubectl(args ...string) string {
	c.t.Helper()
	out, err := c.tryKubectl(args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// asks is kubectl for a question that may have no answer yet.
func (c *cluster) asks(args ...string) string {
	out, _ := c.tryKubectl(args...)
	return out
}

func (c *cluster) tryKubectl(args ...string) (string, error) {
	out, err := c.command(c.t.Context(), c.dir, "bin/kubectl", append([]string{"--kubeconfig=kubeconfig"}, args...)...)
	return strings.TrimSpace(out), err
}

// get reads objects as JSON.
func (c *cluster) get(into any, args ...string) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(c.kubectl(append([]string{"get", "-o", "json"}, args...)...)), into); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) apply(text string) {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.kubectl("apply", "-f", file)
}

// until waits for a state; the test's own limit ends it.
func (c *cluster) until(what string, is func() bool) {
	c.t.Helper()
	for !is() {
		select {
		case <-c.t.Context().Done():
			c.t.Fatalf("it never was so: %s", what)
		case <-time.After(time.Second):
		}
	}
}

// logs shows the end of each program's log where a test failed.
func (c *cluster) logs() {
	if !c.t.Failed() {
		return
	}
	files, _ := filepath.Glob(filepath.Join(c.dir, "log", "*"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		c.t.Logf("== %s\n%s", filepath.Base(f), text[max(0, len(text)-1500):])
	}
}
