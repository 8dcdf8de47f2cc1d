package packer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Packer is one version of Packer with plugins, for one test.
type Packer struct {
	// Path is the program's, Version its version without v.
	Path, Version string
	// Dir holds its configuration and plugins.
	Dir string
	// Env is added to the environment of every run: NAME=value.
	Env []string
}

// New builds what isn't built and installs the plugins into a folder of the
// test's own.
func New(t testing.TB, packer Tool, plugins ...Tool) *Packer {
	t.Helper()
	path, err := packer.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := &Packer{Path: path, Version: packer.Version[1:], Dir: t.TempDir()}
	for _, plugin := range plugins {
		binary, err := plugin.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.Install(t, binary, plugin.Source)
	}
	return p
}

// Install installs a plugin from a file.
func (p *Packer) Install(t testing.TB, binary, source string) {
	t.Helper()
	if out, err := p.Run(t.Context(), ".", "plugins", "install", "--path", binary, source); err != nil {
		t.Fatalf("install %s: %v\n%s", source, err, out)
	}
}

// Run runs packer in a folder and returns what it printed.
func (p *Packer) Run(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := p.Command(ctx, dir, args...).CombinedOutput()
	return string(out), err
}

// Command is a run that the caller starts.
func (p *Packer) Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "PACKER_NO_COLOR=1",
		"PACKER_PLUGIN_PATH="+filepath.Join(p.Dir, "plugins"), "PACKER_CONFIG_DIR="+p.Dir, "PACKER_CACHE_DIR="+filepath.Join(p.Dir, "cache"))
	cmd.Env = append(cmd.Env, p.Env...)
	return cmd
}
