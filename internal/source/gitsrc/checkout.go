package gitsrc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/fault"
)

// Checkout writes the commit's tree into dir, which must not exist, with its
// submodules if asked for, and hashes every file that it wrote against the
// commit.
func (c *Commit) Checkout(ctx context.Context, dir string, submodules bool) error {
	template, err := unfilteredTemplate()
	if err != nil {
		return err
	}
	defer os.RemoveAll(template)
	if _, err := git(ctx, os.TempDir(), "init", "--quiet", "--template="+template, objectFormat(c.Hash), dir); err != nil {
		return err
	}
	// Borrowing the objects, not cloning: git refuses to share with a shallow
	// repository, and the checkout lives no longer than one build.
	alternates := filepath.Join(dir, ".git", "objects", "info", "alternates")
	if err := os.WriteFile(alternates, []byte(filepath.Join(c.repo, "objects")+"\n"), 0o644); err != nil {
		return fmt.Errorf("borrow objects: %w", err)
	}
	// Relative submodule URLs are resolved against the remote (gitmodules(5)).
	if _, err := git(ctx, dir, "remote", "add", "origin", c.URL); err != nil {
		return err
	}
	if _, err := git(ctx, dir, "checkout", "--quiet", "--detach", c.Hash); err != nil {
		return err
	}
	if submodules {
		if err := c.submodules(ctx, dir, template); err != nil {
			return err
		}
	}
	return c.prove(ctx, dir)
}

// unfilteredTemplate makes a folder that git repositories are begun from. Its
// attributes stand over those of the tree (gitattributes(5)): a filter of the
// person's own configuration must not change what is compiled.
func unfilteredTemplate() (string, error) {
	dir, err := os.MkdirTemp("", "winbake-template-")
	if err != nil {
		return "", fmt.Errorf("make a folder for git's template: %w", err)
	}
	info := filepath.Join(dir, "info")
	err = os.Mkdir(info, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(info, "attributes"), []byte("* -filter\n"), 0o644)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("write git's template: %w", err)
	}
	return dir, nil
}

func (c *Commit) submodules(ctx context.Context, dir, template string) error {
	update := command(ctx, dir, "submodule", "--quiet", "update", "--init", "--recursive", "--checkout")
	update.Env = append(update.Env, "GIT_TEMPLATE_DIR="+template)
	_, err := update.Output()
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &fault.Error{Where: c.URL + "@" + c.Hash, What: "a submodule can't be fetched", Excerpt: message(err), Err: err,
		Fix: "check that each URL of the commit's .gitmodules can be reached; a mirror is set with git config url.<mirror>.insteadOf"}
}

// prove hashes the files on disk into trees and compares those with what the
// commits say. Submodules are commits of their own, named by the outer tree.
func (c *Commit) prove(ctx context.Context, dir string) error {
	if err := proveTree(ctx, dir, c.Hash); err != nil {
		return damaged(c.repo, c.URL)
	}
	out, err := git(ctx, dir, "submodule", "--quiet", "foreach", "--recursive", `printf '%s\n' "$sha1 $displaypath"`)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		hash, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if err := proveTree(ctx, filepath.Join(dir, path), hash); err != nil {
			return &fault.Error{Where: c.URL + "@" + c.Hash, What: "submodule " + path + " isn't what its commit says", Err: err,
				Fix: "fetch it again: rm -rf '" + c.repo + "'"}
		}
	}
	return nil
}

// proveTree checks that commit hash is the hash of its own bytes, that its
// tree is made of the files in dir, and that no file is there beside them.
func proveTree(ctx context.Context, dir, hash string) error {
	raw, err := command(ctx, dir, "cat-file", "commit", hash).Output()
	if err != nil {
		return err
	}
	rehash := command(ctx, dir, "hash-object", "-t", "commit", "--stdin")
	rehash.Stdin = bytes.NewReader(raw)
	got, err := rehash.Output()
	if err != nil || strings.TrimSpace(string(got)) != hash {
		return fmt.Errorf("commit %s doesn't hash to its name", hash)
	}
	tree, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "tree "), "\n")
	// A new index has no stat data to trust: every file is read and hashed.
	proof, err := os.MkdirTemp("", "winbake-proof-")
	if err != nil {
		return fmt.Errorf("make a folder for the index: %w", err)
	}
	defer os.RemoveAll(proof)
	index := filepath.Join(proof, "index")
	// read-tree keeps the entries of submodules that weren't asked for.
	for _, args := range [][]string{{"read-tree", hash}, {"add", "--all", "--force", "."}, {"write-tree"}} {
		cmd := command(ctx, dir, args...)
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("git %s: %s", args[0], message(err))
		}
		if args[0] == "write-tree" && strings.TrimSpace(string(out)) != tree {
			return fmt.Errorf("the files of %s hash to tree %s, the commit's is %s", dir, strings.TrimSpace(string(out)), tree)
		}
	}
	return nil
}
