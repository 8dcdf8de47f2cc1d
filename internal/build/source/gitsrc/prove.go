package gitsrc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
)

// prove hashes the files on disk into trees and compares those with what the
// commits say. Submodules are commits of their own, named by the outer tree.
func (c *Commit) prove(ctx context.Context, dir string) error {
	if err := proveTree(ctx, dir, c.Hash); err != nil {
		return c.unproved(ctx, "its checkout", err)
	}
	out, err := git(ctx, dir, "submodule", "--quiet", "foreach", "--recursive", `printf '%s\n' "$sha1 $displaypath"`)
	if err != nil {
		return c.explain(ctx, err)
	}
	for line := range strings.Lines(out) {
		hash, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if err := proveTree(ctx, filepath.Join(dir, path), hash); err != nil {
			return c.unproved(ctx, "submodule "+path, err)
		}
	}
	return nil
}

// unproved says why what isn't the commit's: the cached copy is damaged, the
// file system keeps something else than was written, or git failed.
func (c *Commit) unproved(ctx context.Context, what string, err error) error {
	err = c.explain(ctx, err)
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	d, ok := errors.AsType[*differs](err)
	if !ok {
		return err
	}
	return &fault.Error{Where: c.where(), What: what + " isn't what the commit says: " + d.Error(), Err: err,
		Fix: "check out into an empty folder of a file system that tells upper from lower case and keeps modes and links: TMPDIR, --cache-dir"}
}

// differs is a checkout that isn't the tree that it was made of.
type differs struct{ paths []string }

// maxPaths bounds how many of the files that differ are named.
const maxPaths = 5

func (d *differs) Error() string {
	if len(d.paths) > maxPaths {
		return fmt.Sprintf("%s and %d more differ", strings.Join(d.paths[:maxPaths], ", "), len(d.paths)-maxPaths)
	}
	return strings.Join(d.paths, ", ") + " differ"
}

// proveTree checks that commit hash is the hash of its own bytes, that its
// tree is made of the files in dir, and that no file is there beside them. It
// returns differs if it isn't.
func proveTree(ctx context.Context, dir, hash string) error {
	raw, err := object(ctx, dir, "commit", hash)
	if err != nil {
		return err
	}
	tree, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "tree "), "\n")
	written, paths, err := hashFiles(ctx, dir, hash)
	if err == nil && written != tree {
		err = &differs{paths}
	}
	return err
}

// hashFiles makes a tree of the files in dir, and names those that aren't the
// commit's. A new index has no stat data to trust: every file is read.
func hashFiles(ctx context.Context, dir, hash string) (tree string, paths []string, err error) {
	proof, err := os.MkdirTemp("", "winbake-proof-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the index: %w", err)
	}
	defer os.RemoveAll(proof)
	var out []byte
	// read-tree keeps the entries of submodules that weren't asked for.
	for _, args := range [][]string{
		{"read-tree", hash}, {"add", "--all", "--force", "."},
		{"diff-index", "--cached", "--name-only", "--no-renames", hash}, {"write-tree"},
	} {
		cmd := command(ctx, dir, args...)
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+filepath.Join(proof, "index"))
		if out, err = cmd.Output(); err != nil {
			return "", nil, failed(args[0], err)
		}
		if args[0] == "diff-index" {
			paths = strings.Split(strings.TrimSpace(string(out)), "\n")
		}
	}
	return strings.TrimSpace(string(out)), paths, nil
}

// explain says what the failure of a git command over repo means. git tells
// damage in words that name neither the cache nor what fixes it. commits are
// those that must be there with all that they hold.
func explain(ctx context.Context, repo, url string, err error, commits ...string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if wrong, ok := errors.AsType[*otherContent](err); ok {
		return damaged(repo, url, wrong.text, err)
	}
	if words := fsck(ctx, repo, commits...); words != "" {
		return damaged(repo, url, words, err)
	}
	return err
}

// explain is explain for a git command over c's objects.
func (c *Commit) explain(ctx context.Context, err error) error {
	return explain(ctx, c.repo, c.URL, err, c.Hash)
}

// damaged is a cached repository that isn't what was fetched. words are git's.
func damaged(repo, url, words string, err error) error {
	return &fault.Error{Where: repo, What: "the cached copy of " + url + " is damaged", Excerpt: words, Err: err,
		Fix: "move it aside and run the command again: mv " + shell.Word(repo) + " " + shell.Word(repo+".damaged")}
}

// maxWords bounds what is shown of a fsck: one broken pack is told of once for
// each of its objects.
const maxWords = 3

// fsck reads and hashes every object of repo and returns the first complaints,
// "" for a sound one. It takes a while, and is asked after a failure alone.
func fsck(ctx context.Context, repo string, commits ...string) string {
	args := append([]string{"--git-dir=" + repo, "fsck", "--no-dangling", "--no-reflogs", "--no-progress"}, commits...)
	out, err := command(ctx, repo, args...).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return ""
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), harmless)
	return strings.Join(lines[:min(len(lines), maxWords)], "\n")
}

// harmless are the lines that tell of no damage: what upstream's own objects
// are blamed for ("error in commit 1234: badTimezone: ..."), and remarks.
func harmless(line string) bool {
	return !slices.ContainsFunc([]string{"error: ", "fatal: ", "missing ", "broken link "}, func(sign string) bool { return strings.HasPrefix(line, sign) })
}
