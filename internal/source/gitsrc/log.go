package gitsrc

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/shell"
)

// Logged is one commit of a history.
type Logged struct {
	Commit, Subject string
	Date            time.Time
}

// Beyond lists the commits of a fork that upstream's tag hasn't got, merges left
// out, the newest first. It fetches both histories, and no files.
func (c *Cache) Beyond(ctx context.Context, fork, commit, upstream, tag string) ([]Logged, error) {
	if !fullHash.MatchString(commit) {
		return nil, &fault.Error{Where: fork, What: fmt.Sprintf("%q isn't a full commit", commit), Fix: "pin all of its digits"}
	}
	repo, unlock, err := c.prepare(ctx, fork, "history", objectFormat(commit))
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, f := range []struct{ url, ref, into string }{
		{fork, commit, "refs/winbake/fork"},
		{upstream, "refs/tags/" + tag, "refs/winbake/upstream"},
	} {
		if _, err := git(ctx, repo, "fetch", "--quiet", "--no-tags", "--filter=tree:0", "--", f.url, "+"+f.ref+":"+f.into); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, &fault.Error{Where: f.url, What: "the history of " + f.ref + " can't be fetched", Excerpt: message(err), Err: err,
				Fix: "check that it is there: git ls-remote " + shell.Word(f.url)}
		}
	}
	out, err := git(ctx, repo, "log", "--no-merges", "--format=%H%x09%cI%x09%s", "refs/winbake/upstream..refs/winbake/fork")
	if err != nil {
		return nil, err
	}
	var all []Logged
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(fields) < 3 {
			continue
		}
		date, err := time.Parse(time.RFC3339, fields[1])
		if err != nil {
			return nil, fmt.Errorf("read the date of %s: %w", fields[0], err)
		}
		all = append(all, Logged{Commit: fields[0], Subject: fields[2], Date: date.UTC()})
	}
	return all, nil
}

// Tags asks a repository for its tags and returns the commit of each.
func Tags(ctx context.Context, url string) (map[string]string, error) {
	return list(ctx, url, "tags")
}

// Branch asks a repository for a branch's newest commit.
func Branch(ctx context.Context, url, name string) (string, error) {
	heads, err := list(ctx, url, "heads")
	if err != nil {
		return "", err
	}
	commit, ok := heads[name]
	if !ok {
		return "", &fault.Error{Where: url, What: "it has no branch " + name, Fix: "git ls-remote --heads " + shell.Word(url)}
	}
	return commit, nil
}

// list asks for all refs of a kind, tags or heads.
func list(ctx context.Context, url, kind string) (map[string]string, error) {
	out, err := git(ctx, os.TempDir(), "ls-remote", "--"+kind, "--", url)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &fault.Error{Where: url, What: "its " + kind + " can't be had", Excerpt: message(err), Err: err, Fix: "git ls-remote --" + kind + " " + shell.Word(url)}
	}
	tags := map[string]string{}
	for line := range strings.Lines(out) {
		hash, ref, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		// An annotated tag has a second line, with ^{}, that names its commit.
		name, peeled := strings.CutSuffix(strings.TrimPrefix(ref, "refs/"+kind+"/"), "^{}")
		if _, known := tags[name]; !known || peeled {
			tags[name] = hash
		}
	}
	return tags, nil
}
