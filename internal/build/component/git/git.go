// Package git has the kinds of components that come out of a git tree: a
// program that is built in its checkout, and a file that is carried.
package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/component/program"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/build/source/gomod"
)

// tree is what both kinds share.
type tree struct{}

// Versions are the repository's tags, or the newest commit of the branch that the
// pin follows. A commit between tags has no place among them.
func (tree) Versions(ctx context.Context, _ *source.Env, p source.Pin) (current string, all []string, err error) {
	if p.Branch != "" {
		head, err := gitsrc.Branch(ctx, p.Git, p.Branch)
		return p.Commit, []string{p.Commit, head}, err
	}
	tags, err := gitsrc.Tags(ctx, p.Git)
	if err != nil {
		return "", nil, err
	}
	all = slices.Sorted(maps.Keys(tags))
	// A module in a folder has tags of its own: https://go.dev/ref/mod#vcs-version
	if inFolder := func(name string) bool { return strings.HasPrefix(name, p.Dir+"/") }; p.Dir != "" && slices.ContainsFunc(all, inFolder) {
		all = slices.DeleteFunc(all, func(name string) bool { return !inFolder(name) })
	}
	current, err = tagOf(all, tags, p.Commit)
	return current, all, err
}

// tagOf is the pinned commit's tag: the newest version among those with the shortest
// prefix.
func tagOf(all []string, tags map[string]string, commit string) (current string, err error) {
	found, prefix, version := false, "", ""
	for _, name := range all {
		if tags[name] != commit {
			continue
		}
		found = true
		of, v := gomod.Split(name)
		if v != "" && (current == "" || len(of) < len(prefix) || of == prefix && semver.Compare(v, version) > 0) {
			current, prefix, version = name, of, v
		}
	}
	switch {
	case !found:
		return "", source.NoVersions("not to be had: the pinned commit has no tag to compare")
	case current == "":
		return "", source.NoVersions("not to be had: no tag of the pinned commit is a version")
	}
	return current, nil
}

func describe(url string, c *gitsrc.Commit) *pins.Locked {
	return &pins.Locked{Git: url, Commit: c.Hash, Tree: c.Tree, Date: c.Time.Format(time.RFC3339)}
}

// locked brings the commit, and compares what it says with the lock.
func locked(ctx context.Context, env *source.Env, p source.Pin) (*gitsrc.Commit, error) {
	commit, err := env.Git.Fetch(ctx, p.Git, p.Commit)
	if err != nil {
		return nil, err
	}
	if got := describe(p.Git, commit); got.Tree != p.Locked.Tree || got.Date != p.Locked.Date {
		return nil, &fault.Error{Where: p.Git, Fix: p.LockCommand(),
			What: fmt.Sprintf("commit %s has tree %s of %s, the lock says tree %s of %s", commit.Hash, got.Tree, got.Date, p.Locked.Tree, p.Locked.Date)}
	}
	return commit, nil
}

// Program is a component.Program.
type Program struct{ tree }

// Revision is 2 since checkouts are as committed, whatever the tree says of
// line ends.
func (Program) Revision() int { return 2 }

// Lock describes the program as it is built in its checkout.
func (Program) Lock(ctx context.Context, env *source.Env, p source.Pin) (*source.Result, error) {
	commit, err := env.Git.Fetch(ctx, p.Git, p.Commit)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "winbake-lock-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the checkout: %w", err)
	}
	defer os.RemoveAll(dir)
	w, err := source.Tree(ctx, commit, dir, p.Component)
	if err != nil {
		return nil, err
	}
	l := describe(p.Git, commit)
	linked, result, err := program.Describe(ctx, env, p, w, l)
	if err != nil {
		return nil, err
	}
	l.Main, l.MainModule = linked.Main, linked.MainModule
	return result, nil
}

// Workspace is a checkout.
func (Program) Workspace(ctx context.Context, env *source.Env, p source.Pin, dir string) (*source.Workspace, error) {
	commit, err := locked(ctx, env, p)
	if err != nil {
		return nil, err
	}
	return source.Tree(ctx, commit, dir, p.Component)
}

// File is a component.File.
type File struct{ tree }

// Lock sums the file up.
func (File) Lock(ctx context.Context, env *source.Env, p source.Pin) (*source.Result, error) {
	commit, err := env.Git.Fetch(ctx, p.Git, p.Commit)
	if err != nil {
		return nil, err
	}
	content, err := commit.Open(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // only read
	whole, err := gitsrc.RefusePointer(content, p.Git+"@"+p.Commit, p.Path)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, whole); err != nil {
		return nil, err
	}
	l := describe(p.Git, commit)
	l.SHA256 = hex.EncodeToString(h.Sum(nil))
	return &source.Result{Locked: l}, nil
}

// Check has nothing to look at: no commit changes.
func (File) Check(source.Pin) error { return nil }

// Key is commit and path, which name one content whichever repository has it.
// What the lock says of the commit was compared with it then: said otherwise,
// it is compared again.
func (File) Key(p source.Pin) string {
	return p.Commit + "\x00" + p.Path + "\x00" + p.Locked.Tree + "\x00" + p.Locked.Date
}

// Open reads the file out of the tree.
func (File) Open(ctx context.Context, env *source.Env, p source.Pin) (io.ReadCloser, error) {
	commit, err := locked(ctx, env, p)
	if err != nil {
		return nil, err
	}
	return commit.Open(ctx, p.Path)
}

// Compare compares what was read with the lock, which alone has its sum.
func (File) Compare(p source.Pin, got string) error {
	if got == p.Locked.SHA256 {
		return nil
	}
	return &fault.Error{Where: p.Git, What: fmt.Sprintf("the file's digest is sha256:%s, sha256:%s is pinned", got, p.Locked.SHA256), Fix: p.LockCommand()}
}
