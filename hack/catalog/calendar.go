package main

import (
	"context"
	"strings"
)

type calendar struct {
	buildData string   // git directory of ocp-build-data
	log       []string // of cincinnati-graph-data
}

func newCalendar(ctx context.Context, clones string) (*calendar, error) {
	buildData, err := gitDir(clones, "openshift-eng/ocp-build-data")
	if err != nil {
		return nil, err
	}
	graph, err := gitDir(clones, "openshift/cincinnati-graph-data")
	if err != nil {
		return nil, err
	}
	log, err := run(ctx, graph, "log", "--reverse", "--no-merges", "--format=%cI %s", "HEAD")
	return &calendar{buildData, log}, err
}

// patches of a minor; none for one that isn't released.
func (c *calendar) patches(ctx context.Context, minor string) ([]patch, error) {
	ref := "refs/heads/openshift-" + minor
	known, err := run(ctx, c.buildData, "for-each-ref", ref)
	if err != nil {
		return nil, err
	}
	byZ := map[int]patch{}
	if len(known) > 0 {
		text, err := run(ctx, c.buildData, "cat-file", "blob", ref+":releases.yml")
		if err != nil {
			return nil, err
		}
		if byZ, err = built(strings.Join(text, "\n"), minor); err != nil {
			return nil, err
		}
	}
	return merge(byZ, promoted(c.log, minor)), nil
}
