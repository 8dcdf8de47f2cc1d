package gitsrc

import (
	"context"
	"os"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/shell"
)

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
