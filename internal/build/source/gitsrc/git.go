// Package gitsrc brings git trees by full commit, proves that a checkout is
// the commit's own tree, and reads single files out of it.
//
// It takes no branches and no tags: a name that moves isn't a pin. The
// person's git configuration counts (credentials, insteadOf mirrors).
package gitsrc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/proc"
	"github.com/winbake/winbake/internal/base/shell"
)

// Cache keeps one bare repository per URL under a folder.
type Cache struct {
	dir string
}

// NewCache keeps its repositories in dir, which is made when first needed.
func NewCache(dir string) *Cache { return &Cache{dir: dir} }

// Commit is a commit that the cache holds, with its whole tree.
type Commit struct {
	URL, Hash string
	// Tree is the hash of the commit's tree.
	Tree string
	// Time is the committer's, in UTC.
	Time time.Time
	repo string
}

// fullHash is of either of git's hash functions. Whatever else is in the
// place of a commit could be an option to a git command.
var fullHash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Fetch returns the commit, from the cache or from url. It asks for the one
// commit first and for everything only if the server refuses that
// (uploadpack.allowReachableSHA1InWant, git-config(1)).
func (c *Cache) Fetch(ctx context.Context, url, hash string) (*Commit, error) {
	if !fullHash.MatchString(hash) {
		return nil, &fault.Error{Where: url, What: fmt.Sprintf("%q isn't a full commit", hash), Fix: "pin all of its digits: git rev-parse REF^{commit}"}
	}
	repo, unlock, err := c.open(ctx, url, objectFormat(hash), hash)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !has(ctx, repo, hash) {
		if err := fetch(ctx, repo, url, hash); err != nil {
			return nil, err
		}
	}
	return describe(ctx, repo, url, hash)
}

// open makes the bare repository for a purpose with url's commits of hash's kind if
// needed, and locks it against other processes: git's own locks fail instead of
// waiting.
func (c *Cache) open(ctx context.Context, url, purpose, hash string) (repo string, unlock func(), err error) {
	sum := sha256.Sum256([]byte(purpose + " " + url))
	repo = filepath.Join(c.dir, hex.EncodeToString(sum[:16]))
	if err := os.MkdirAll(c.dir, 0o777); err != nil { // the umask decides who shares it
		return "", nil, fmt.Errorf("make the git cache: %w", err)
	}
	unlock, err = lockedfile.MutexAt(repo + ".lock").Lock()
	if err != nil {
		return "", nil, fmt.Errorf("lock the git cache: %w", err)
	}
	_, missing := os.Stat(filepath.Join(repo, "HEAD"))
	if _, err := git(ctx, c.dir, "init", "--quiet", "--bare", objectFormat(hash), repo); err != nil {
		if missing == nil {
			err = explain(ctx, repo, url, err)
		}
		unlock()
		return "", nil, err
	}
	return repo, unlock, nil
}

// Repository is the bare repository that holds the commit.
func (c *Commit) Repository() string { return c.repo }

// objectFormat tells git init which of its two hash functions made hash.
func objectFormat(hash string) string {
	if len(hash) == hex.EncodedLen(sha256.Size) {
		return "--object-format=sha256"
	}
	return "--object-format=sha1"
}

func has(ctx context.Context, repo, hash string) bool {
	// A shallow fetch that was killed may leave a commit without its tree.
	_, err := git(ctx, repo, "rev-list", "--objects", "--max-count=1", "--quiet", hash)
	return err == nil
}

func fetch(ctx context.Context, repo, url, hash string) error {
	_, shallow := git(ctx, repo, "fetch", "--quiet", "--no-tags", "--depth=1", "--", url, hash)
	if shallow == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// Git's own advice is to trust the folder, whose configuration names programs.
	if strings.Contains(shallow.Error(), "dubious ownership") {
		return &fault.Error{Where: repo, Err: shallow, What: "the repository in the cache belongs to somebody else", Fix: "bake cache clean"}
	}
	// An earlier fetch may have left the repository shallow, and git wouldn't
	// look behind that: this depth is git's word for infinite.
	_, full := git(ctx, repo, "fetch", "--quiet", "--no-tags", "--depth=2147483647", "--", url, "+refs/*:refs/winbake/*")
	if full == nil && has(ctx, repo, hash) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if words := fsck(ctx, repo); words != "" {
		return damaged(repo, url, words, shallow)
	}
	f := &fault.Error{Where: url, Excerpt: message(shallow), Err: shallow,
		What: "the repository can't be fetched",
		Fix:  "check the URL, the network and your rights: git ls-remote " + shell.Word(url)}
	// A mirror that lacks other objects, too, can't send everything; its word about
	// this one is enough.
	if full == nil || strings.Contains(shallow.Error(), "not our ref "+hash) {
		f.What = "commit " + hash + " isn't in the repository"
		f.Fix = "pin a commit that is still there: a force-pushed branch loses old ones; or update the mirror"
	}
	return f
}

func describe(ctx context.Context, repo, url, hash string) (*Commit, error) {
	kind, err := git(ctx, repo, "cat-file", "-t", hash)
	if err != nil {
		return nil, explain(ctx, repo, url, err)
	}
	if kind != "commit" {
		return nil, &fault.Error{Where: url, What: hash + " is a " + kind + ", not a commit",
			Fix: "pin the commit: git rev-parse " + hash + "^{commit}"}
	}
	raw, err := object(ctx, repo, "commit", hash)
	if err != nil {
		return nil, explain(ctx, repo, url, err, hash)
	}
	m := commitForm.FindSubmatch(raw)
	if m == nil {
		return nil, fmt.Errorf("commit %s names no tree, or no time", hash)
	}
	seconds, err := strconv.ParseInt(string(m[2]), 10, 64)
	return &Commit{URL: url, Hash: hash, Tree: string(m[1]), Time: time.Unix(seconds, 0).UTC(), repo: repo}, err
}

// commitForm finds the tree and the committer's time in a commit's head
// (https://git-scm.com/docs/git-commit-tree#_commit_information).
var commitForm = regexp.MustCompile(`\Atree ([0-9a-f]+)\n(?:[a-z].*\n)*?committer .*> ([0-9]+) `)

// settings that keep a person's git configuration from changing file
// contents, running hooks or commands that stand in a URL, or asking questions.
var settings = []string{
	"-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.symlinks=true", "-c", "core.fileMode=true",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.excludesFile=/dev/null", "-c", "core.attributesFile=/dev/null",
	"-c", "protocol.ext.allow=never", "-c", "protocol.fd.allow=never",
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := proc.Command(ctx, "git", append(append([]string{}, settings...), args...)...)
	cmd.Dir = dir
	cmd.Env = append(environment(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "TZ=UTC")
	return cmd
}

// environment is the person's without what points git at another repository.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX":
		default:
			env = append(env, kv)
		}
	}
	return env
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := command(ctx, dir, args...).Output()
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return "", failed(args[0], err)
}

func failed(verb string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return &fault.Error{What: "no git command on PATH", Fix: "install git", Err: err}
	}
	return &failure{verb: verb, err: err}
}

type failure struct {
	verb string
	err  error
}

func (f *failure) Error() string { return "git " + f.verb + ": " + message(f.err) }
func (f *failure) Unwrap() error { return f.err }

func message(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		// It names the URL that the user's insteadOf made, which is where many
		// keep a token.
		return printable.NoCredentials(strings.TrimSpace(string(exit.Stderr)))
	}
	return err.Error()
}

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

func (c *Commit) submodules(ctx context.Context, dir, template string) error {
	update := command(ctx, dir, "submodule", "--quiet", "update", "--init", "--recursive", "--checkout")
	update.Env = append(update.Env, "GIT_TEMPLATE_DIR="+template)
	_, err := update.Output()
	if err == nil || ctx.Err() != nil {
		return err
	}
	fix := "check that each URL of the commit's .gitmodules can be reached; a mirror is set with git config url.<mirror>.insteadOf"
	if strings.Contains(message(err), "transport 'file' not allowed") {
		fix = "git config --global protocol.file.allow always, if the submodules' mirror is a folder of yours"
	}
	return &fault.Error{Where: c.where(), What: "a submodule can't be fetched", Excerpt: message(err), Err: err, Fix: fix}
}

func (c *Commit) where() string { return c.URL + "@" + c.Hash }
