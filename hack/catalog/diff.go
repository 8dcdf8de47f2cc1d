package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

func diffCommand(_ context.Context, f *flag.FlagSet, args []string, w io.Writer) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	paths := append(f.Args(), dataDir)
	if f.NArg() < 1 || f.NArg() > 2 {
		return fmt.Errorf("diff OLD [NEW]: folders of data, or files of verify catalog -o json")
	}
	old, err := load(paths[0])
	if err != nil {
		return err
	}
	made, err := load(paths[1])
	if err != nil {
		return err
	}
	return printDiff(w, old, made)
}

func load(path string) (*catalog.Catalog, error) {
	whole, err := catalog.ReadOverlays(path)
	if err != nil {
		return nil, err
	}
	return catalog.LoadOver(whole)
}

// printDiff says for people what differs: what old has alone with -, what made has
// alone with +. Where a fact is from doesn't count.
func printDiff(w io.Writer, old, made *catalog.Catalog) error {
	var sides [2]map[string]string
	for i, c := range []*catalog.Catalog{old, made} {
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		sides[i] = map[string]string{}
		flatten(sides[i], "catalog", v)
	}
	all := maps.Clone(sides[0])
	maps.Copy(all, sides[1])
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		for i, sign := range []string{"-", "+"} {
			if value, there := sides[i][path]; there && value != sides[1-i][path] {
				lines = append(lines, fmt.Sprintf("%s %s: %s", sign, path, value))
			}
		}
	}
	if len(lines) == 0 {
		lines = []string{"nothing changed"}
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// flatten has a line for each entry of a list of mappings, by what names it, and for
// each other value.
func flatten(into map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		var own []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch v[key].(type) {
			case map[string]any, []any:
				if key != "evidence" {
					flatten(into, strings.TrimPrefix(path+" "+key, "catalog "), v[key])
				}
			case nil:
			default:
				own = append(own, fmt.Sprintf("%s %v", key, v[key]))
			}
		}
		if len(own) > 0 {
			into[path] = strings.Join(own, ", ")
		}
	case []any:
		for i, entry := range v {
			at := fmt.Sprintf("%s %s", path, nameOf(entry, i))
			if _, double := into[at]; double {
				at = fmt.Sprintf("%s #%d", at, i+1)
			}
			flatten(into, at, entry)
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}

// nameOf is the first field that names an entry of a list, with its driver or plugin.
func nameOf(entry any, i int) string {
	m, _ := entry.(map[string]any)
	for _, field := range []string{"id", "key", "path", "from", "commit", "openshift", "name", "digest", "version"} {
		if m[field] == nil {
			continue
		}
		var words []string
		for _, f := range []string{"driver", "inTree", field, "mode"} {
			if m[f] != nil {
				words = append(words, fmt.Sprint(m[f]))
			}
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprintf("#%d", i+1)
}
