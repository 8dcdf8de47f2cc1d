package main

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
)

// shortlist is how many tags' lines are counted for a tree: those with the
// fewest differing files, and ties. Counting lines of all would take an hour.
const shortlist = 12

type tagged struct {
	tag          string
	version      version.Driver
	id           string // of its tree
	code, around tree
}

// measurer compares trees of one fork with its upstream's releases.
type measurer struct {
	repo *repo
	fork fork
	tags map[string]tagged
	// seen are distances by code, since most commits of a fork change none.
	seen map[string][]candidate
}

func newMeasurer(ctx context.Context, r *repo, f fork) (*measurer, error) {
	m := &measurer{repo: r, fork: f, tags: map[string]tagged{}, seen: map[string][]candidate{}}
	refs, err := r.git(ctx, "for-each-ref", "--format=%(refname:short) %(tree)%(*tree)", "refs/tags")
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		name, id, _ := strings.Cut(ref, " ")
		v, ok := released(name)
		if !ok {
			continue
		}
		t, err := r.tree(ctx, "refs/tags/"+name)
		if err != nil {
			return nil, err
		}
		code, around := t.split()
		m.tags[name] = tagged{name, v, id, code, around}
	}
	return m, nil
}

// shape is how the drivers' projects tag: v1.2.3, v1.2.3-rc.1, 1.7.5-rc1. Chart
// tags (helm-chart-...) and typos (v.2.0.0-beta.5) aren't releases of a driver.
var shape = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)\.?[0-9]*)?$`)

// released reads a tag; ok is false for one that can't be a base: charts, and
// GCE PD's sentinels such as v999.1.0, which package version refuses.
func released(tag string) (version.Driver, bool) {
	if !shape.MatchString(tag) {
		return version.Driver{}, false
	}
	v, err := version.ParseDriver(tag)
	return v, err == nil
}

// measure compares one commit with the releases. The second result is what the
// commit has around its code.
func (m *measurer) measure(ctx context.Context, id string) (match, tree, error) {
	t, err := m.repo.tree(ctx, id)
	if err != nil {
		return match{}, nil, err
	}
	code, around := t.split()
	key := code.key()
	if m.seen[key] == nil {
		if m.seen[key], err = m.distances(ctx, id, code); err != nil {
			return match{}, nil, err
		}
	}
	merged, err := m.repo.merged(ctx, id)
	if err != nil {
		return match{}, nil, err
	}
	all := slices.Clone(m.seen[key])
	for i := range all {
		all[i].around = len(around.differ(m.tags[all[i].tag].around))
		all[i].merged = slices.Contains(merged, all[i].tag)
	}
	h, err := m.hints(ctx, id, merged)
	return choose(all, h), around, err
}

func (m *measurer) distances(ctx context.Context, id string, code tree) ([]candidate, error) {
	all := make([]candidate, 0, len(m.tags))
	for _, t := range m.tags {
		all = append(all, candidate{tag: t.tag, version: t.version, tree: t.id, files: len(code.differ(t.code))})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.files, b.files), cmp.Compare(a.tag, b.tag))
	})
	if len(all) > shortlist {
		limit := all[shortlist-1].files
		all = filter(all, func(c candidate) bool { return c.files <= limit })
	}
	for i := range all {
		n, err := m.repo.lines(ctx, "refs/tags/"+all[i].tag, id, code.differ(m.tags[all[i].tag].code))
		if err != nil {
			return nil, err
		}
		all[i].lines = n
	}
	return all, nil
}

// hints reads what the tree and its ancestry say of its version.
func (m *measurer) hints(ctx context.Context, id string, merged []string) (hints, error) {
	var h hints
	if text := m.fork.Version; text.File != "" {
		s, err := m.repo.file(ctx, id, text.File)
		if err != nil {
			return h, err
		}
		if found := regexp.MustCompile(text.Find).FindStringSubmatch(s); found != nil {
			h.text = found[1]
			if v, err := version.ParseDriver(h.text); err == nil {
				h.text = v.String()
			}
		}
	}
	var highest version.Driver
	for _, tag := range merged {
		if v, ok := released(tag); ok && v.Compare(highest) > 0 {
			highest, h.merged = v, v.String()
		}
	}
	return h, nil
}
