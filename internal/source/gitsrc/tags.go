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
	out, err := git(ctx, os.TempDir(), "ls-remote", "--tags", "--", url)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &fault.Error{Where: url, What: "its tags can't be had", Excerpt: message(err), Err: err, Fix: "git ls-remote --tags " + shell.Word(url)}
	}
	tags := map[string]string{}
	for line := range strings.Lines(out) {
		hash, ref, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		// An annotated tag has a second line, with ^{}, that names its commit.
		name, peeled := strings.CutSuffix(strings.TrimPrefix(ref, "refs/tags/"), "^{}")
		if _, known := tags[name]; !known || peeled {
			tags[name] = hash
		}
	}
	return tags, nil
}
