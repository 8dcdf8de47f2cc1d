package ci

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// The registry's login.
const user, password = "me", "s3cr:t/+ü"

// built is the folder with bake and verify, linked once for all tests.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if built, err = os.MkdirTemp("", "ci-test-"); err != nil {
			log.Print(err)
			return 1
		}
		defer os.RemoveAll(built)
		cmd := exec.Command("go", "build", "-C", "../../..", "-trimpath", "-o", built, "./cmd/bake", "./cmd/verify")
		if out, err := cmd.CombinedOutput(); err != nil {
			log.Printf("go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// fixture is a repository with one small component, a home and a registry
// that asks for a login.
type fixture struct {
	dir, home, host string
	env             []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir(), home: t.TempDir(), host: startRegistry(t)}
	f.env = append(os.Environ(), "HOME="+f.home, "XDG_CACHE_HOME="+f.home+"/cache", "GOFLAGS=", "DOCKER_CONFIG=")
	f.write(t, "conf.toml", "version = 2\n")
	f.pin(t)
	f.makefile(t)
	f.must(t, "git init -q . && printf '/bin\\n/_output\\n' > .gitignore && make bin && bin/bake lock -q && "+
		"git add -A && git -c user.name=t -c user.email=t@example.com commit -qm start")
	return f
}

// pin writes versions.yaml for conf.toml as it is now.
func (f *fixture) pin(t *testing.T) {
	t.Helper()
	sum := sha256.Sum256([]byte(read(t, filepath.Join(f.dir, "conf.toml"))))
	f.write(t, "versions.yaml", fmt.Sprintf(`apiVersion: winbake.dev/v1
release: "4.21"
go: local
components:
  - {name: conf, file: conf.toml, sha256: %s, payload: containerd/conf.toml}
`, hex.EncodeToString(sum[:])))
}

// makefile has the two targets that the pipelines use. It asks git for the
// commit, as go build does in a real clone.
func (f *fixture) makefile(t *testing.T) {
	t.Helper()
	f.write(t, "Makefile", strings.NewReplacer("BUILT", built).Replace(`.PHONY: bin payload
bin:
	git status --short
	mkdir -p bin && cp BUILT/bake BUILT/verify bin/
payload: bin
	bin/bake payload
`))
}

func (f *fixture) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, path), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) must(t *testing.T, script string) {
	t.Helper()
	if out, err := f.run(t, step{shell: []string{"bash", "-e"}, script: script}); err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
}

// step is one shell step of a pipeline, its variables filled in.
type step struct {
	name   string
	shell  []string // before the script's file; none: the file is executed
	script string
	env    []string
}

// run runs a step as its system does: as a file, in the clone.
func (f *fixture) run(t *testing.T, s step) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(s.script), 0o755); err != nil {
		t.Fatal(err)
	}
	args := append(append([]string{}, s.shell...), file)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = f.dir
	cmd.Env = append(append([]string{}, f.env...), s.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// runAll runs the steps until one fails, and returns its name and what all of
// them printed. before, if any, is called ahead of each step.
func (f *fixture) runAll(t *testing.T, steps []step, before func(step string)) (failed, printed string) {
	t.Helper()
	for _, s := range steps {
		if before != nil {
			before(s.name)
		}
		out, err := f.run(t, s)
		printed += "== " + s.name + "\n" + out
		if err != nil {
			return s.name, printed
		}
	}
	return "", printed
}

// startRegistry starts a registry over plain http that answers nobody without
// the login, and returns its host.
func startRegistry(t *testing.T) string {
	t.Helper()
	kept := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		kept.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pushed asks the registry for the digest of a reference: "" if it has none.
func pushed(t *testing.T, ref string) string {
	t.Helper()
	r, err := name.ParseReference(ref, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Head(r, remote.WithAuth(&authn.Basic{Username: user, Password: password}))
	if err != nil {
		return ""
	}
	return d.Digest.String()
}

var digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// verified is the digest of the image in the layout, which was verified.
func (f *fixture) verified(t *testing.T) string {
	t.Helper()
	return cmp.Or(digests.FindString(read(t, filepath.Join(f.dir, "_output/image/index.json"))), "none")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
