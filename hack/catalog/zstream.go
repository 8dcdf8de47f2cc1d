package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// patch is a release of a minor, 4.14.25, and when its payload was built.
type patch struct {
	z int
	// built is the time in the name of the nightly that was released. Where no
	// nightly is known it is estimated from the day of promotion.
	built time.Time
	// nightly is that name; "" where built is an estimate.
	nightly string
	// pins are builds that the release names itself: image build to commit, at
	// least 7 digits.
	pins map[string]string
}

// has tells whether the patch was built after a change at t was merged; sure is
// false where the dates are too close to tell.
func (p patch) has(t time.Time) (has, sure bool) {
	if p.nightly == "" {
		return p.built.After(t), t.After(p.built.Add(typicalLag)) || p.built.Sub(t) >= vagueLag
	}
	return p.built.After(t), t.After(p.built) || p.built.Sub(t) >= longLag
}

// when says how its date is known.
func (p patch) when(minor string) string {
	if p.nightly != "" {
		return fmt.Sprintf("%s.%d is %s", minor, p.z, p.nightly)
	}
	return fmt.Sprintf("%s.%d was promoted on %s", minor, p.z, day(p.built.Add(typicalLag)))
}

// assembly is an entry of releases.yml in openshift-eng/ocp-build-data.
type assembly struct {
	Assembly struct {
		Basis struct {
			Assembly string            `yaml:"assembly"`
			Nightly  map[string]string `yaml:"reference_releases"`
		} `yaml:"basis"`
		Members struct {
			Images []struct {
				Metadata struct {
					Is struct {
						NVR string `yaml:"nvr"`
					} `yaml:"is"`
				} `yaml:"metadata"`
			} `yaml:"images"`
		} `yaml:"members"`
	} `yaml:"assembly"`
}

var (
	// stamp is the time in 4.14.0-0.nightly-2024-05-08-232852.
	stamp = regexp.MustCompile(`nightly-(\d{4}-\d{2}-\d{2}-\d{6})$`)
	// pinned takes ose-azure-file-csi-driver-container-v4.14.0-202405082212.p0.gf28a507.
	pinned = regexp.MustCompile(`^(?:ose-)?([a-z0-9-]+)-container-v[0-9.]+-[0-9]+\.p[0-9]+\.g(?:it\.)?([0-9a-f]{7,40})\b`)
)

// built reads releases.yml of a minor and returns its patches by number.
// Release candidates are only followed where a patch was made from one.
func built(text, minor string) (map[int]patch, error) {
	var file struct {
		Releases map[string]assembly `yaml:"releases"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return nil, fmt.Errorf("read the releases of %s: %w", minor, err)
	}
	out := map[int]patch{}
	for name := range file.Releases {
		z, ok := patchNumber(name, minor)
		if !ok {
			continue
		}
		p := patch{z: z, pins: map[string]string{}}
		seen := map[string]bool{}
		for at := name; at != "" && !seen[at]; at = file.Releases[at].Assembly.Basis.Assembly {
			seen[at] = true
			a := file.Releases[at].Assembly
			for _, image := range a.Members.Images {
				if m := pinned.FindStringSubmatch(image.Metadata.Is.NVR); m != nil && p.pins[m[1]] == "" {
					p.pins[m[1]] = m[2]
				}
			}
			if m := stamp.FindStringSubmatch(a.Basis.Nightly["x86_64"]); m != nil && p.nightly == "" {
				p.nightly = a.Basis.Nightly["x86_64"]
				p.built, _ = time.Parse("2006-01-02-150405", m[1])
			}
		}
		out[z] = p
	}
	return out, nil
}

func patchNumber(name, minor string) (int, bool) {
	rest, ok := strings.CutPrefix(name, minor+".")
	if !ok {
		return 0, false
	}
	z, err := strconv.Atoi(rest)
	return z, err == nil && z >= 0
}

const (
	// typicalLag is how long after its build a payload is promoted to a
	// candidate channel; one to three days where both dates are known.
	typicalLag = 2 * 24 * time.Hour
	// longLag is how long a merge may take to come into the next nightly; within
	// it nobody knows. Builds follow merges in an hour or two, unless they fail:
	// of the 27 driver commits that releases.yml names, all are the newest before
	// the nightly, one of them merged two hours before.
	longLag = 36 * time.Hour
	// vagueLag is longLag where the build's date is an estimate: eight days
	// cover all but release candidates that waited for their general release.
	vagueLag = 8 * 24 * time.Hour
)

// promoted reads the log of openshift/cincinnati-graph-data (lines of committer
// date and subject, oldest first) and returns when patches of a minor were
// promoted first.
func promoted(log []string, minor string) map[int]time.Time {
	out := map[int]time.Time{}
	for _, line := range log {
		at, subject, _ := strings.Cut(line, " ")
		_, name, ok := strings.Cut(subject, ": Promote ")
		if !ok {
			continue
		}
		z, ok := patchNumber(name, minor)
		date, err := time.Parse(time.RFC3339, at)
		if _, known := out[z]; !ok || known || err != nil {
			continue
		}
		out[z] = date.UTC()
	}
	return out
}

// merge joins what both sources know and sorts by number. A patch of which
// neither tells a date is left out.
func merge(built map[int]patch, promoted map[int]time.Time) []patch {
	all := map[int]patch{}
	maps.Copy(all, built)
	for z, date := range promoted {
		p := all[z]
		p.z = z
		if p.nightly == "" {
			p.built = date.Add(-typicalLag)
		}
		all[z] = p
	}
	var out []patch
	for _, p := range all {
		if !p.built.IsZero() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b patch) int { return cmp.Compare(a.z, b.z) })
	return out
}

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
	log, err := run(ctx, []string{graph}, "log", "--reverse", "--no-merges", "--format=%cI %s", "HEAD")
	return &calendar{buildData, log}, err
}

// patches of a minor; none for one that isn't released.
func (c *calendar) patches(ctx context.Context, minor string) ([]patch, error) {
	ref := "refs/heads/openshift-" + minor
	known, err := run(ctx, []string{c.buildData}, "for-each-ref", ref)
	if err != nil {
		return nil, err
	}
	byZ := map[int]patch{}
	if len(known) > 0 {
		text, err := run(ctx, []string{c.buildData}, "cat-file", "blob", ref+":releases.yml")
		if err != nil {
			return nil, err
		}
		if byZ, err = built(strings.Join(text, "\n"), minor); err != nil {
			return nil, err
		}
	}
	return merge(byZ, promoted(c.log, minor)), nil
}
