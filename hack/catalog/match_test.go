package main

import (
	"math/rand/v2"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
)

// at is a candidate; its tree has the tag's name unless the test says more.
func at(tag string, lines, around int) candidate {
	return candidate{tag: tag, version: version.MustDriver(tag), tree: tag, files: min(lines, 1), lines: lines, around: around}
}

func merged(c candidate) candidate            { c.merged = true; return c }
func onTree(c candidate, id string) candidate { c.tree = id; return c }

func TestChoose(t *testing.T) {
	for name, c := range map[string]struct {
		all    []candidate
		hints  hints
		want   string
		second string
	}{
		"nothing to choose from": {want: ""},
		"the nearest code": {
			all:  []candidate{at("v1.0.0", 40, 2), at("v1.1.0", 3, 9), at("v1.2.0", 12, 1)},
			want: "1.1.0", second: "v1.2.0",
		},
		"neither makefile nor ancestry outweighs code": {
			all:   []candidate{merged(at("v1.2.0", 5, 1)), at("v1.1.0", 4, 9)},
			hints: hints{text: "1.2.0", merged: "1.2.0"},
			want:  "1.1.0", second: "v1.2.0",
		},
		"fewer files for as many lines": {
			all: []candidate{
				{tag: "v1.0.0", version: version.MustDriver("1.0.0"), files: 3, lines: 9},
				{tag: "v1.1.0", version: version.MustDriver("1.1.0"), files: 2, lines: 9},
			},
			want: "1.1.0", second: "v1.0.0",
		},
		"equal code, other surroundings": { // EBS 4.12: v1.11.5 has v1.11.4's code
			all:  []candidate{at("v1.11.5", 12, 11), at("v1.11.4", 12, 8), at("v1.12.0", 77, 29)},
			want: "1.11.4", second: "v1.12.0",
		},
		"the merged one of two": {
			all:  []candidate{at("v1.1.0", 0, 4), merged(at("v1.2.0", 0, 4))},
			want: "1.2.0",
		},
		"the one that the makefile names": {
			all:   []candidate{at("v1.1.0", 0, 4), at("v1.2.0", 0, 4)},
			hints: hints{text: "1.1.0"},
			want:  "1.1.0",
		},
		"the final name of a release candidate": { // GCE 4.13: v1.8.2-rc1 is v1.8.2
			all:  []candidate{merged(at("v1.8.2-rc1", 0, 4)), merged(at("v1.8.2", 0, 4))},
			want: "1.8.2",
		},
		"two names of one tree": { // GCE 4.22: v1.24.0 and v1.24.1 are one commit
			all:  []candidate{onTree(at("v1.24.0", 2, 10), "x"), onTree(at("v1.24.1", 2, 10), "x")},
			want: "1.24.1",
		},
		"two trees that can't be told apart": {
			all:  []candidate{at("v1.1.0", 0, 4), at("v1.2.0", 0, 4), at("v1.3.0", 9, 4)},
			want: "", second: "v1.3.0",
		},
		"ten comes after nine": {
			all:  []candidate{at("v1.9.0-rc9", 0, 4), at("v1.9.0-rc10", 0, 4)},
			want: "1.9.0-rc.10",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := choose(c.all, c.hints)
			if got := m.version.String(); got != c.want {
				t.Errorf("chose %q, want %q", got, c.want)
			}
			if m.second.tag != c.second {
				t.Errorf("second is %q, want %q", m.second.tag, c.second)
			}
			// The order that tags come in mustn't matter.
			for range 5 {
				rand.Shuffle(len(c.all), func(i, j int) { c.all[i], c.all[j] = c.all[j], c.all[i] })
				if again := choose(c.all, c.hints); again.tag != m.tag {
					t.Fatalf("in another order it chose %q", again.tag)
				}
			}
		})
	}
}

func TestChooseTellsWhatIsAlikeAndSurrounded(t *testing.T) {
	m := choose([]candidate{at("v1.1.0", 0, 6), at("v1.2.0", 0, 4), at("v1.3.0", 7, 5)}, hints{})
	if tags(m.alike) != "v1.1.0" {
		t.Errorf("alike are %s, want v1.1.0", tags(m.alike))
	}
	if !m.surrounded {
		t.Error("no candidate has nearer surroundings, but surrounded is false")
	}
	if m := choose([]candidate{at("v1.1.0", 1, 6), at("v1.2.0", 2, 4)}, hints{}); m.surrounded {
		t.Error("v1.2.0 has nearer surroundings, but surrounded is true")
	}
}

func TestDecide(t *testing.T) {
	now := commit{id: "b"}
	on := func(v string, h hints) basis { return basis{version: v, at: commit{id: "a"}, hints: h} }
	found := func(tag string, lines, around int, h hints) match {
		m := choose([]candidate{at(tag, lines, around)}, h)
		return m
	}
	for name, c := range map[string]struct {
		parent         basis
		m              match
		toParent       int
		version, since string
		nearer         string
	}{
		"a first tree that is a release":         {basis{}, found("v1.0.0", 0, 9, hints{}), 0, "1.0.0", "b", ""},
		"a first tree that a text names":         {basis{}, found("v1.0.0", 9, 9, hints{text: "1.0.0"}), 0, "1.0.0", "b", ""},
		"a first tree that only is near":         {basis{}, found("v1.0.0", 9, 9, hints{text: "0.9.0"}), 0, "", "b", ""},
		"the core of a candidate in a text":      {basis{}, found("v2.7.1-rc.1", 9, 9, hints{text: "2.7.1"}), 0, "2.7.1-rc.1", "b", ""},
		"no change":                              {on("1.0.0", hints{}), found("v1.0.0", 50, 9, hints{}), 9, "1.0.0", "a", ""},
		"nearer surroundings too":                {on("1.0.0", hints{}), found("v1.1.0", 0, 5, hints{}), 40, "1.1.0", "b", ""},
		"code alone":                             {on("1.0.0", hints{}), found("v1.1.0", 0, 40, hints{}), 5, "1.0.0", "a", "1.1.0"},
		"code alone, as near":                    {on("1.0.0", hints{}), found("v1.1.0", 0, 5, hints{}), 5, "1.0.0", "a", "1.1.0"},
		"a tag that comes into the ancestry":     {on("1.0.0", hints{merged: "1.0.0"}), found("v1.1.0", 0, 40, hints{merged: "1.1.0"}), 5, "1.1.0", "b", ""},
		"a tag that was in the ancestry already": {on("1.0.0", hints{merged: "1.1.0"}), found("v1.1.0", 0, 40, hints{merged: "1.1.0"}), 5, "1.0.0", "a", "1.1.0"},
		"nothing decides the code":               {on("1.0.0", hints{}), match{candidate: candidate{lines: 3, around: 5}}, 40, "", "b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(c.parent, c.m, now, c.toParent)
			if got.version != c.version || got.at.id != c.since || got.nearer != c.nearer {
				t.Errorf("decided %q since %s, nearer %q; want %q since %s, nearer %q",
					got.version, got.at.id, got.nearer, c.version, c.since, c.nearer)
			}
			if got.hints != c.m.hints {
				t.Errorf("hints are %v, want the commit's own %v", got.hints, c.m.hints)
			}
		})
	}
}

func TestReleased(t *testing.T) {
	for tag, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.7.5-rc1": "1.7.5-rc.1", "v3.0.2-rc.2": "3.0.2-rc.2", "v2.0.0-beta.5": "2.0.0-beta.5",
		"v999.1.0": "", "v999.0.1": "", "v.2.0.0-beta.5": "", "helm-chart-aws-ebs-csi-driver-2.6.2": "",
		"v0.1.0.alpha": "", "aws-ebs-csi-driver-0.7.1": "", "": "", "v1.2": "",
	} {
		v, ok := released(tag)
		if v.String() != want || ok != (want != "") {
			t.Errorf("released(%q) is %q, %v; want %q", tag, v, ok, want)
		}
	}
}
