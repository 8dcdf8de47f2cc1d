package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Check reads the folder, or the one .pkr.hcl file, at path. The error is an
// *Error where there is no template; one that can't be parsed is a
// finding.
func Check(ctx context.Context, path string, o Options) (*Result, error) {
	f, err := load(ctx, path, o.VarFiles)
	if err != nil {
		return nil, err
	}
	c := &checker{folder: f, profile: cmp.Or(o.Profile, f.RecordedProfile())}
	r := &Result{Profile: c.profile, Files: len(f.Files)}
	c.findings = append(c.findings, f.Unreadable...)
	for _, s := range f.Sources {
		r.Sources = append(r.Sources, s.Name())
	}
	for _, s := range f.Linux {
		r.Linux = append(r.Linux, s.Name())
	}
	for _, look := range []func(*checker){
		plugins, guests, firmware, attributes, media, reach, secrets, keys, letters, payloads, present, editions, exitCodes, sysprepAtShutdown,
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		look(c)
	}
	c.findings = append(c.findings, c.ofBuilds()...)
	r.Findings = c.settled()
	return r, nil
}

// CheckBuild holds what a build does to the checklist of a node's image: steps
// that are missing, emptied or broken, and answer files that Windows Setup stops
// at. It is what Check says of a folder, less what only the HCL tells.
func CheckBuild(b Build) []Finding {
	b.Profile = cmp.Or(b.Profile, Profiles()[0])
	c := &buildChecker{Build: b}
	c.follow()
	for _, look := range []func(*buildChecker){scripts, answers, entry, downloads, settings, restarts, leftovers, passwords, sysprep, checklist, ignoredFailures, services} {
		look(c)
	}
	return c.settled()
}

// ofBuilds are the findings of each source's build, every one once: what isn't
// so of all sources says of which it is. A source of Packer's null
// builder is left out where another makes an image.
func (c *checker) ofBuilds() []Finding {
	var all []Finding
	of := map[string][]string{}
	key := func(f Finding) string {
		if f.Severity == Pass {
			return f.ID + " " + f.Object
		}
		return fmt.Sprint(f.ID, " ", f.Object, f.Observed, f.Evidence)
	}
	images := slices.DeleteFunc(slices.Clone(c.machines), func(m *block) bool { return strings.HasPrefix(m.Name(), "null.") })
	if len(images) == 0 {
		images = c.machines
	}
	for _, m := range images {
		for _, f := range CheckBuild(c.build(m)) {
			if of[key(f)] == nil {
				all = append(all, f)
			}
			of[key(f)] = append(of[key(f)], m.Name())
		}
	}
	sources := map[string]bool{}
	for _, m := range images {
		sources[m.Name()] = true
	}
	for i, f := range all {
		if names := slices.Compact(of[key(f)]); f.Severity > Pass && len(names) < len(sources) {
			all[i].Observed += ", for " + strings.Join(names, ", ")
		}
	}
	return all
}
