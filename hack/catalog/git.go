package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/proc"
)

// gitDir finds the clone of owner/name below clones: a mirror, a bare clone or
// one with a work tree.
func gitDir(clones, name string) (string, error) {
	base := filepath.Join(clones, filepath.FromSlash(name))
	for _, dir := range []string{base, base + ".git", filepath.Join(base, ".git")} {
		if _, err := os.Stat(filepath.Join(dir, "objects")); err == nil {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("find a clone of %s in %s: git clone --mirror https://github.com/%s %s.git", name, clones, name, base)
}

func run(ctx context.Context, dir string, args ...string) ([]string, error) {
	cmd := proc.Command(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_DIR="+dir, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s in %s: %s: %w", strings.Join(args, " "), dir, strings.TrimSpace(complaint.String()), err)
	}
	text := strings.TrimRight(string(out), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}
