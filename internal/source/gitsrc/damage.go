package gitsrc

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/shell"
)

// explain says what the failure of a git command over repo means. git tells
// damage in words that name neither the cache nor what mends it. commits are
// those that must be there with all that they hold.
func explain(ctx context.Context, repo, url string, err error, commits ...string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
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
