package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/winbake/winbake/internal/base/proc"
)

// calendarRepositories have the dates of patches.
var calendarRepositories = []string{"openshift-eng/ocp-build-data", "openshift/cincinnati-graph-data"}

// fetch clones what is missing below clones from GitHub, and brings the rest up to date.
func fetch(ctx context.Context, known forksData, clones string, w io.Writer) error {
	names := slices.Clone(calendarRepositories)
	for _, f := range known.Forks {
		names = append(names, f.Fork, f.Upstream)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		fmt.Fprintln(w, "fetch", name)
		args := []string{"clone", "--quiet", "--mirror", "https://github.com/" + name, filepath.Join(clones, filepath.FromSlash(name)+".git")}
		if dir, err := gitDir(clones, name); err == nil {
			args = []string{"--git-dir=" + dir, "fetch", "--quiet", "--prune", "--tags", "https://github.com/" + name, "+refs/heads/*:refs/heads/*"}
		}
		cmd := proc.Command(ctx, "git", args...)
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("fetch %s: %w\n%s", name, err, out)
		}
	}
	return nil
}
