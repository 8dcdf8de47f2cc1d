package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// repo sees the objects of a fork and of its upstream at once: an empty
// repository that borrows from both, so that a tree of one can be compared
// with a tree of the other. The clones themselves are only read.
type repo struct {
	dir string
	// theirs are the commits that the upstream's branches and tags reach.
	theirs map[string]bool
}

type commit struct {
	id      string
	date    time.Time // of the committer: for a merge on GitHub, when it was merged
	subject string
}

// join makes a repository in dir over the clones of a fork and its upstream.
// The upstream's tags become its tags, the fork's branches its branches.
func join(ctx context.Context, dir, forkDir, upstreamDir string) (*repo, error) {
	r := &repo{dir: dir, theirs: map[string]bool{}}
	if _, err := r.git(ctx, "init", "-q", "--bare", dir); err != nil {
		return nil, err
	}
	borrowed := filepath.Join(forkDir, "objects") + "\n" + filepath.Join(upstreamDir, "objects") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "objects/info/alternates"), []byte(borrowed), 0o644); err != nil {
		return nil, fmt.Errorf("borrow objects: %w", err)
	}
	var refs []string
	for from, pattern := range map[string]string{upstreamDir: "refs/tags", forkDir: "refs/heads"} {
		lines, err := run(ctx, from, "for-each-ref", "--format=%(objectname) %(refname)", pattern)
		if err != nil {
			return nil, err
		}
		refs = append(refs, lines...)
	}
	packed := "# pack-refs with:\n"
	// git searches packed refs by bisection: they have to be sorted by name.
	slices.SortFunc(refs, func(a, b string) int {
		_, x, _ := strings.Cut(a, " ")
		_, y, _ := strings.Cut(b, " ")
		return strings.Compare(x, y)
	})
	for _, line := range refs {
		packed += line + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "packed-refs"), []byte(packed), 0o644); err != nil {
		return nil, fmt.Errorf("write the refs: %w", err)
	}
	ids, err := run(ctx, upstreamDir, "rev-list", "--branches", "--tags", "HEAD")
	for _, id := range ids {
		r.theirs[id] = true
	}
	return r, err
}

func (r *repo) git(ctx context.Context, args ...string) ([]string, error) {
	return run(ctx, r.dir, args...)
}

func (r *repo) merged(ctx context.Context, commit string) ([]string, error) {
	return r.git(ctx, "for-each-ref", "--format=%(refname:short)", "--merged="+commit, "refs/tags")
}

// tree lists the files of a commit. The vendor folder is left out, which is
// nine tenths of a fork and says nothing of its version; submodules too.
func (r *repo) tree(ctx context.Context, commit string) (tree, error) {
	top, err := r.git(ctx, "-c", "core.quotePath=false", "ls-tree", "--full-tree", "--name-only", commit)
	if err != nil {
		return nil, err
	}
	top = slices.DeleteFunc(top, func(name string) bool { return name == "vendor" })
	args := []string{"-c", "core.quotePath=false", "ls-tree", "-r", "--full-tree", commit, "--"}
	lines, err := r.git(ctx, append(args, top...)...)
	if err != nil {
		return nil, err
	}
	t := make(tree, len(lines))
	for _, line := range lines {
		head, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("read the tree of %s: %q", commit, line)
		}
		if f[1] == "blob" {
			t[path] = f[2]
		}
	}
	return t, nil
}

// lines counts the added and removed lines between two commits in paths.
func (r *repo) lines(ctx context.Context, from, to string, paths []string) (int, error) {
	if len(paths) == 0 {
		return 0, nil
	}
	// Only paths: comparing whole folders would read files that a partial clone
	// left out, such as the binary pkg/tool/gen-skus-map of Azure Disk.
	args := []string{"--literal-pathspecs", "diff-tree", "-r", "--numstat", "--no-renames", from, to, "--"}
	out, err := r.git(ctx, append(args, paths...)...)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, line := range out {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			return 0, fmt.Errorf("read the difference of %s and %s: %q", from, to, line)
		}
		// A binary file has dashes, which count as nothing.
		added, _ := strconv.Atoi(f[0])
		removed, _ := strconv.Atoi(f[1])
		n += added + removed
	}
	return n, nil
}

// history is a branch's first-parent line, oldest first, without what the
// upstream has too: those commits were no fork's. It is empty for a branch that
// there isn't.
func (r *repo) history(ctx context.Context, branch string) ([]commit, error) {
	known, err := r.git(ctx, "for-each-ref", "refs/heads/"+branch)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	lines, err := r.git(ctx, "log", "--first-parent", "--reverse", "--format=%H%x09%cI%x09%s", "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	var out []commit
	for _, line := range lines {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("read the history of %s: %q", branch, line)
		}
		date, err := time.Parse(time.RFC3339, f[1])
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
		out = append(out, commit{id: f[0], date: date.UTC(), subject: f[2]})
	}
	return slices.DeleteFunc(out, func(c commit) bool { return r.theirs[c.id] }), nil
}

// file is the text of a file in a commit, "" where there is none.
func (r *repo) file(ctx context.Context, commit, path string) (string, error) {
	listed, err := r.git(ctx, "ls-tree", "--full-tree", "--name-only", commit, "--", path)
	if err != nil || len(listed) == 0 {
		return "", err
	}
	lines, err := r.git(ctx, "cat-file", "blob", commit+":"+path)
	return strings.Join(lines, "\n"), err
}
