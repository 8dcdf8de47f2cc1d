package packer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// OwnSource is what `packer plugins install` calls this project's plugin.
const OwnSource = "github.com/winbake/winbake"

// Own builds this project's plugin into a folder and returns its path. It is
// linked as a release is: Packer takes no version range for a prerelease.
func Own(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", OwnSource).Output()
	if err != nil {
		return "", fmt.Errorf("find the project's folder: go list: %w", err)
	}
	binary := filepath.Join(dir, "packer-plugin-winbake")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X "+OwnSource+"/packer/plugin/version.Prerelease=", "-o", binary, ".")
	cmd.Dir = filepath.Join(strings.TrimSpace(string(root)), "packer", "plugin")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build this project's plugin: %w\n%s", err, out)
	}
	return binary, nil
}
