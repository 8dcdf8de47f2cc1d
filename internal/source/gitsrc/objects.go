package gitsrc

import (
	"context"
	"crypto/sha1" // git's own; it looked for collisions when it fetched
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/fault"
)

// object returns the content of an object of a repository, and hashes it: git
// doesn't hash again what it finds in its store.
func object(ctx context.Context, dir, kind, id string) ([]byte, error) {
	content, err := command(ctx, dir, "cat-file", kind, id).Output()
	if err != nil {
		return nil, failed("cat-file", err)
	}
	sum := hasher(id)
	fmt.Fprintf(sum, "%s %d\x00%s", kind, len(content), content)
	return content, named(kind, id, sum)
}

// hasher is the one of git's hash functions that made id.
func hasher(id string) hash.Hash {
	if len(id) == hex.EncodedLen(sha256.Size) {
		return sha256.New()
	}
	return sha1.New()
}

// named tells whether an object has the sum that is its name.
func named(kind, id string, sum hash.Hash) error {
	if got := hex.EncodeToString(sum.Sum(nil)); got != id {
		return &otherContent{fmt.Sprintf("%s %s hashes to %s", kind, id, got)}
	}
	return nil
}

// otherContent is an object that isn't what its name says.
type otherContent struct{ text string }

func (e *otherContent) Error() string { return e.text }

// Checkout writes the commit's tree into dir, which must not exist, with its
// submodules if asked for, byte for byte as it was committed, and hashes every
// file that it wrote against the commit.
func (c *Commit) Checkout(ctx context.Context, dir string, submodules bool) error {
	template, err := plainTemplate()
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
	if _, err := git(ctx, dir, "remote", "add", "--", "origin", c.URL); err != nil {
		return err
	}
	if _, err := git(ctx, dir, "checkout", "--quiet", "--detach", c.Hash); err != nil {
		return c.explain(ctx, err)
	}
	if submodules {
		if err := c.submodules(ctx, dir, template); err != nil {
			return err
		}
	}
	return c.prove(ctx, dir)
}

// asCommitted are attributes that leave every byte alone. Where a tree says
// "* text", git could not even say afterwards whether a file with CRLF is the
// commit's: it would look for one with LF. A filter is the person's, who may
// have none.
const asCommitted = "* -text -ident -filter !working-tree-encoding\n"

// plainTemplate makes a folder that git repositories are begun from. Its
// attributes stand over those of the tree (gitattributes(5)).
func plainTemplate() (string, error) {
	dir, err := os.MkdirTemp("", "winbake-template-")
	if err != nil {
		return "", fmt.Errorf("make a folder for git's template: %w", err)
	}
	info := filepath.Join(dir, "info")
	err = os.Mkdir(info, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(info, "attributes"), []byte(asCommitted), 0o644)
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
