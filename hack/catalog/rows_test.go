package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

var cut = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// line is a branch with a commit every ten days on the named versions.
func line(versions ...string) []step {
	var out []step
	for i, v := range versions {
		c := commit{id: strings.Repeat(string(rune('a'+i)), 40), date: cut.AddDate(0, 0, 10*i)}
		b := basis{version: v, at: c}
		if v != "" {
			b.match.candidate = candidate{tag: "v" + v, version: version.MustDriver(v)}
		}
		if i > 0 && out[i-1].basis.version == v {
			b.at = out[i-1].basis.at
		}
		out = append(out, step{c, b})
	}
	return out
}

// nightly is patch z, built so many days after the cut.
func nightly(z int, days float64) patch {
	return patch{z: z, built: cut.Add(time.Duration(days * 24 * float64(time.Hour))), nightly: "nightly-" + time.Duration(z).String()}
}

func pinning(p patch, commit string) patch {
	p.pins = map[string]string{"driver": commit}
	return p
}

func estimated(p patch) patch { p.nightly = ""; return p }

func TestShippedIn(t *testing.T) {
	f := fork{Name: "d", Build: "driver", Fork: "openshift/d"}
	operator := f
	operator.OLM = true
	for name, c := range map[string]struct {
		f       fork
		steps   []step
		patches []patch
		want    string
	}{
		"one version":           {f, line("1.0.0", "1.0.0"), []patch{nightly(0, 1), nightly(1, 12)}, "1.0.0 * to * exact 0"},
		"a rebase inside":       {f, line("1.0.0", "1.1.0"), []patch{nightly(0, 1), nightly(1, 9), nightly(2, 14)}, "1.0.0 * to 1 range 0, 1.1.0 2 to * range 0"},
		"a rebase on the eve":   {f, line("1.0.0", "1.1.0"), []patch{nightly(0, 1), nightly(1, 10.5)}, "1.0.0 * to 0 range 1, 1.1.0 1 to * range 1"},
		"its commit is named":   {f, line("1.0.0", "1.1.0"), []patch{nightly(0, 1), pinning(nightly(1, 10.5), "bbbbbbb")}, "1.0.0 * to 0 range 0, 1.1.0 1 to * range 0"},
		"an older one is named": {f, line("1.0.0", "1.1.0"), []patch{nightly(0, 1), pinning(nightly(1, 14), "aaaaaaa"), nightly(2, 20)}, "1.0.0 * to 1 range 0, 1.1.0 2 to * range 0"},
		"dates are estimates":   {f, line("1.0.0", "1.1.0"), []patch{nightly(0, 1), estimated(nightly(1, 9)), estimated(nightly(2, 14))}, "1.0.0 * to 1 range 2, 1.1.0 2 to * range 2"},
		"never shipped":         {f, line("1.0.0", "1.1.0", "1.0.0"), []patch{nightly(0, 1), nightly(1, 29)}, "1.0.0 * to * exact 0"},
		"two rebases": {f, line("1.0.0", "1.1.0", "1.2.0"), []patch{nightly(0, 1), nightly(1, 15), nightly(2, 29)},
			"1.0.0 * to 0 range 0, 1.1.0 1 to 1 range 0, 1.2.0 2 to * range 0"},
		"rebased after the last patch": {f, line("1.0.0", "1.1.0"), []patch{nightly(0, 1)}, "1.0.0 * to * exact 0"},
		"not released":                 {f, line("1.0.0", "1.1.0"), nil, "1.1.0 * to * default 0"},
		"an operator's":                {operator, line("1.0.0", "1.1.0"), []patch{nightly(0, 1)}, "1.1.0 * to * default 0"},
		"no branch":                    {f, nil, nil, " * to * default 0"},
		"between releases":             {f, line(""), []patch{nightly(0, 1)}, " * to * exact 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, row := range shippedIn(c.f, "4.21", c.steps, c.patches) {
				if len(row.Evidence) == 0 {
					t.Errorf("%s has no evidence", row.Version)
				}
				got = append(got, row.Version+" "+patchRange(row)+" "+string(row.Certainty)+" "+string(rune('0'+row.FuzzyZ)))
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("rows are\n%s, want\n%s", s, c.want)
			}
		})
	}
}

func TestEdgeSaysHowItIsKnown(t *testing.T) {
	f := fork{Name: "d", Build: "driver", Fork: "openshift/d"}
	patches := []patch{nightly(0, 1), pinning(nightly(1, 14), "bbbbbbb")}
	rows := shippedIn(f, "4.21", line("1.0.0", "1.1.0"), patches)
	last := rows[1].Evidence[len(rows[1].Evidence)-1]
	want := catalog.Evidence{
		Source: "https://github.com/openshift-eng/ocp-build-data/blob/openshift-4.21/releases.yml",
		Note:   "4.21.0 is nightly-0s; 4.21.1 is nightly-1ns and names the commit bbbbbbb",
	}
	if last != want {
		t.Errorf("evidence of the edge is\n%+v, want\n%+v", last, want)
	}
	rows = shippedIn(f, "4.21", line("1.0.0", "1.1.0"), []patch{nightly(0, 1), estimated(nightly(1, 30))})
	last = rows[1].Evidence[len(rows[1].Evidence)-1]
	if !strings.Contains(last.Source, "candidate-4.21") || !strings.HasSuffix(last.Note, "4.21.1 was promoted on 2024-02-02") {
		t.Errorf("evidence of an estimated edge is %+v", last)
	}
}

func TestNote(t *testing.T) {
	s := line("1.0.0", "1.1.0", "1.0.0")
	s[2].basis.match.hints.merged = "1.1.0"
	s[2].basis.nearer = "1.2.0"
	all := intervals(s)
	want := "head; a later rebase was reverted; the ancestry still says 1.1.0; " +
		"fixes were backported: at the head of the branch the Go code is nearer to 1.2.0"
	if got := note(all[2], "head"); got != want {
		t.Errorf("note is\n%s, want\n%s", got, want)
	}
	if got := note(all[0], ""); got != "" {
		t.Errorf("there is nothing to note, got %q", got)
	}
}

func TestEvidence(t *testing.T) {
	f := fork{Fork: "openshift/d", Version: makefile}
	b := basis{version: "1.11.4", at: commit{id: "4bbcda6", date: cut}, match: match{
		candidate: candidate{tag: "v1.11.4", version: version.MustDriver("1.11.4"), files: 1, lines: 12, around: 8},
		second:    candidate{tag: "v1.12.0", files: 4, lines: 77},
		alike:     []candidate{{tag: "v1.11.4-rc1", around: 8}, {tag: "v1.11.5", around: 11}},
		hints:     hints{text: "1.11.3"},
	}}
	want := "release-4.12, merged 2024-01-01: v1.11.4, 1 file and 12 lines of Go away; next is v1.12.0, " +
		"4 files and 77 lines of Go away; v1.11.4-rc1 can't be told from it; v1.11.5 has the same code, " +
		"but 11 other files differ and not 8; Makefile says 1.11.3"
	got := evidence(f, "release-4.12", b)
	if got[0].Note != want || got[0].Source != "https://github.com/openshift/d/commit/4bbcda6" {
		t.Errorf("evidence is\n%+v, want\n%s", got, want)
	}
	b.match.files, b.match.lines = 0, 0
	if got := evidence(f, "release-4.12", b)[0].Note; !strings.Contains(got, "the Go code is that of v1.11.4;") {
		t.Errorf("evidence of an equal tree is %s", got)
	}
}

func patchRange(s catalog.Shipped) string {
	edge := func(z *int) string {
		if z == nil {
			return "*"
		}
		return strconv.Itoa(*z)
	}
	return edge(s.FromZ) + " to " + edge(s.UntilZ)
}
