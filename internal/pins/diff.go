package pins

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Change is one thing that differs between two files of pins and their locks.
type Change struct {
	Component string `json:"component"`
	// What is a key of versions.yaml or lock.yaml, "module PATH", or "API group NAME VERSION"
	// of csi-proxy.
	What string `json:"what"`
	// Old and New are "" where one side hasn't got it.
	Old string `json:"old"`
	New string `json:"new"`
}

// Diff lists what decides the bytes of programs and files and isn't the same: the
// pin, the toolchain, GODEBUG, flags, and each linked module. Components are in the
// order of the new file, those that are gone at the end.
func Diff(before, after *File, was, is *Lock) []Change {
	var all []Change
	for _, c := range after.All() {
		o, _ := before.Component(c.Name) // nil for a new one
		all = append(all, differences(c.Name, facts(before, o, was), facts(after, c, is))...)
	}
	for _, o := range before.All() {
		if _, err := after.Component(o.Name); err != nil {
			all = append(all, differences(o.Name, facts(before, o, was), nil)...)
		}
	}
	return all
}

// facts are a component's by name; none for nil.
func facts(f *File, c *Component, lock *Lock) map[string]string {
	if c == nil {
		return nil
	}
	m := map[string]string{
		"source": c.Source(), "version": c.Version, "commit": c.Commit, "sha256": c.SHA256, "package": c.Package, "dir": c.Dir,
		"tags": strings.Join(c.Tags, ","), "fips": c.FIPS, "payload": c.Payload, "install": c.Install,
	}
	for name, value := range c.Stamp {
		m["stamp "+name] = value
	}
	if c.Program() {
		m["toolchain"] = c.Toolchain(f)
	}
	l := lock.Components[c.Name]
	if l == nil {
		return m
	}
	m["commit"], m["sha256"] = cmp.Or(l.Commit, m["commit"]), cmp.Or(l.SHA256, m["sha256"])
	m["go line"] = l.GoLine
	for setting := range strings.SplitSeq(l.DefaultGODEBUG, ",") {
		if key, value, ok := strings.Cut(setting, "="); ok {
			m["GODEBUG "+key] = value
		}
	}
	for _, group := range l.APIGroups {
		m["API group "+group] = "yes"
	}
	for _, module := range l.Modules {
		used := module.Version
		if module.Replace != nil {
			used = strings.TrimSpace(module.Replace.Path + " " + module.Replace.Version)
		}
		m["module "+module.Path] = used
	}
	return m
}

func differences(name string, before, after map[string]string) []Change {
	keys := maps.Clone(before)
	if keys == nil {
		keys = map[string]string{}
	}
	maps.Copy(keys, after)
	var all []Change
	for _, what := range slices.Sorted(maps.Keys(keys)) {
		if before[what] != after[what] {
			all = append(all, Change{Component: name, What: what, Old: before[what], New: after[what]})
		}
	}
	return all
}
