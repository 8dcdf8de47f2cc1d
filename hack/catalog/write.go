package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

// digits is how much of a commit id commits.yaml keeps.
const digits = 12

// save replaces this driver's rows in the data. Comments and what people wrote stay.
func (f *found) save(dir, headsSince string) error {
	if !f.fork.Sidecar {
		if err := edit(filepath.Join(dir, "releases.yaml"), "releases", f.setReleases); err != nil {
			return err
		}
		if err := edit(filepath.Join(dir, "commits.yaml"), "commits", f.setCommits); err != nil {
			return err
		}
	}
	return edit(filepath.Join(dir, "builds.yaml"), "builds", func(rows *yaml.Node) error {
		for _, row := range rows.Content {
			if value(row, "name") != f.fork.Name {
				continue
			}
			heads, err := node(f.heads(headsSince))
			if err != nil {
				return err
			}
			flow(heads)
			set(row, "heads", heads)
		}
		return nil // a driver may be built by nobody
	})
}

func (f *found) setReleases(rows *yaml.Node) error {
	for _, b := range f.branches {
		for _, row := range rows.Content {
			if value(row, "openshift") != b.minor {
				continue
			}
			shipped, err := node(b.shipped)
			if err != nil {
				return err
			}
			drivers := yamlnode.Get(row, "drivers")
			if drivers == nil {
				drivers = &yaml.Node{Kind: yaml.MappingNode}
				set(row, "drivers", drivers)
			}
			drivers.Style = 0
			set(drivers, f.fork.Name, shipped)
		}
	}
	return nil
}

func (f *found) setCommits(rows *yaml.Node) error {
	fresh, err := node(f.commits())
	if err != nil {
		return err
	}
	flow(fresh)
	rows.Content = slices.DeleteFunc(rows.Content, func(n *yaml.Node) bool { return value(n, "driver") == f.fork.Name })
	rows.Content, rows.Style = append(rows.Content, fresh.Content...), 0
	slices.SortStableFunc(rows.Content, func(a, b *yaml.Node) int {
		return cmp.Or(cmp.Compare(value(a, "driver"), value(b, "driver")),
			compareMinors(value(a, "openshift"), value(b, "openshift")), cmp.Compare(value(a, "date"), value(b, "date")))
	})
	return nil
}

// commits are all of the branches', with the first minor that has each. Those of
// an unknown version are left out: a lookup falls back to the z-stream.
func (f *found) commits() []catalog.Commit {
	out := []catalog.Commit{}
	seen := map[string]bool{}
	for _, b := range f.branches {
		for _, s := range b.steps {
			if seen[s.id] || s.basis.version == "" {
				continue
			}
			seen[s.id] = true
			out = append(out, catalog.Commit{
				Driver: f.fork.Name, Commit: s.id[:digits], Version: s.basis.version, OpenShift: b.minor, Date: day(s.date),
			})
		}
	}
	return out
}

// heads are the newest commits of branches, where their version is known.
func (f *found) heads(since string) []catalog.Head {
	out := []catalog.Head{}
	for _, b := range f.branches {
		if len(b.steps) == 0 || before(b.minor, since) {
			continue
		}
		if last := b.steps[len(b.steps)-1]; last.basis.version != "" {
			out = append(out, catalog.Head{OpenShift: b.minor, Commit: last.id, Version: last.basis.version, Date: day(last.date), Picks: b.picks})
		}
	}
	return out
}

// edit changes a list of a YAML file and replaces the file as a whole.
func edit(path, list string, change func(rows *yaml.Node) error) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil || len(doc.Content) == 0 {
		return fmt.Errorf("read %s: it holds no YAML: %w", path, err)
	}
	rows := yamlnode.Get(doc.Content[0], list)
	if rows == nil {
		return fmt.Errorf("read %s: it has no %s", path, list)
	}
	if err := change(rows); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&doc); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfs.WriteFile(path, out.Bytes())
}

// node is v as YAML, with the fields in the order of its type: JSON is YAML, and
// encoding/json keeps that order.
func node(v any) (*yaml.Node, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	restyle(doc.Content[0])
	return doc.Content[0], nil
}

// restyle drops JSON's quotes and braces. yaml puts quotes back where it would read a
// string as something else, such as 4.10; short commits keep theirs, since parsers
// don't agree on what 12345e678901 is.
func restyle(n *yaml.Node) {
	n.Style = 0
	for i, child := range n.Content {
		restyle(child)
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "commit" && len(child.Value) == digits {
			child.Style = yaml.DoubleQuotedStyle
		}
	}
}

func flow(list *yaml.Node) {
	for _, row := range list.Content {
		row.Style = yaml.FlowStyle
	}
}

func value(n *yaml.Node, key string) string {
	if v := yamlnode.Get(n, key); v != nil {
		return v.Value
	}
	return ""
}

func set(n *yaml.Node, key string, v *yaml.Node) {
	if old := yamlnode.Get(n, key); old != nil {
		*old = *v
		return
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, v)
}
