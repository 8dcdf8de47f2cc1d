//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/wine/winenode"
)

// root is the folder of the project's main module.
const root = "../../.."

// components are small enough to be baked in CI, and of every kind: a service,
// programs, and a file that is carried as it is.
const components = "csi-proxy,host-local,win-bridge,win-overlay,kube-log-runner,containerd-config"

// made is what all tests here share.
type made struct {
	dir    string // with bake, verify.exe and packer-plugin-winbake
	layout string // of the payload, with verify.exe
	bare   string // without
	digest string // of layout
}

var (
	sharedDir string // TestMain's
	shared    = sync.OnceValues(func() (*made, error) {
		m := &made{dir: sharedDir, layout: filepath.Join(sharedDir, "payload"), bare: filepath.Join(sharedDir, "bare")}
		return m, m.make()
	})
)

func (m *made) make() error {
	for _, step := range []struct {
		dir, windows string
		args         []string
	}{
		{root, "", []string{"-o", m.dir + "/", "./cmd/bake"}},
		{root, "windows", []string{"-ldflags=-s -w", "-o", m.dir + "/verify.exe", "./cmd/verify/node"}},
	} {
		cmd := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false"}, step.args...)...)
		cmd.Dir = step.dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath") // as make bin, whose packages are there then
		if step.windows != "" {
			cmd.Env = append(cmd.Env, "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	if _, err := packer.Own(context.Background(), m.dir); err != nil {
		return err
	}
	for _, double := range []string{"shutdown", "fetch", "service"} {
		if _, err := vcenter.Build(context.Background(), m.dir, double); err != nil {
			return err
		}
	}
	if err := m.bake("--only", components, "--with-verify", "--layout", m.layout); err != nil {
		return err
	}
	if err := m.bake("--only", components, "--layout", m.bare); err != nil {
		return err
	}
	var err error
	m.digest, err = digestOf(m.layout)
	return err
}

func (m *made) bake(args ...string) error {
	return m.run(append([]string{"payload", "-f", "versions.yaml"}, args...)...)
}

// run runs bake in the project's folder.
func (m *made) run(args ...string) error {
	cmd := exec.Command(filepath.Join(m.dir, "bake"), args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("bake %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// digestOf is the digest of the one image of a layout.
func digestOf(layout string) (string, error) {
	data, err := os.ReadFile(filepath.Join(layout, "index.json"))
	if err != nil {
		return "", err
	}
	var index struct{ Manifests []struct{ Digest string } }
	if err := json.Unmarshal(data, &index); err != nil {
		return "", err
	}
	if len(index.Manifests) != 1 {
		return "", fmt.Errorf("%s has %d manifests", layout, len(index.Manifests))
	}
	return index.Manifests[0].Digest, nil
}

func TestMain(m *testing.M) {
	var err error
	if sharedDir, err = os.MkdirTemp("", "winbake-e2e-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(sharedDir)
	os.Exit(code)
}

func tools(t testing.TB) *made {
	t.Helper()
	m, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// build is a run of packer in a folder of its own.
type build struct {
	t    testing.TB
	p    *packer.Packer
	dir  string
	node *winenode.Node
	vars map[string]string
}

// newBuild has our plugin installed in a Packer, and others.
func newBuild(t testing.TB, tool packer.Tool, n *winenode.Node, plugins ...packer.Tool) *build {
	t.Helper()
	m := tools(t)
	p := packer.New(t, tool, plugins...)
	p.Install(t, filepath.Join(m.dir, "packer-plugin-winbake"), packer.OwnSource)
	return &build{t: t, p: p, dir: t.TempDir(), node: n, vars: map[string]string{}}
}

// use copies a template into the build's folder.
func (b *build) use(name string) {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, name), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// run runs a command of packer with the build's variables.
func (b *build) run(ctx context.Context, command string, args ...string) (string, error) {
	return b.p.Run(ctx, b.dir, b.line(command, args...)...)
}

// line is a command of packer with the build's variables.
func (b *build) line(command string, args ...string) []string {
	line := append([]string{command}, args...)
	for name, value := range b.vars {
		line = append(line, "-var="+name+"="+value)
	}
	return append(line, ".")
}

// must runs packer build and wants it to end well.
func (b *build) must() string {
	b.t.Helper()
	out, err := b.run(b.t.Context(), "build")
	if err != nil {
		b.t.Fatalf("packer build: %v\n%s", err, out)
	}
	return out
}

// fails runs packer build and wants it to end with these words.
func (b *build) fails(words ...string) string {
	b.t.Helper()
	out, err := b.run(b.t.Context(), "build")
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 1 {
		b.t.Fatalf("packer build: %v\n%s", err, out)
	}
	folded := strings.Join(strings.Fields(strings.ReplaceAll(out, "==> ", "")), " ")
	for _, w := range words {
		if !strings.Contains(folded, w) {
			b.t.Errorf("packer build doesn't say %q:\n%s", w, out)
		}
	}
	return out
}

// read is a file of the build's folder.
func (b *build) read(name string) []byte {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}
