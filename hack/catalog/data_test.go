package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

// The tests of this file read what is committed, so that a run of the command
// that goes wrong is noticed before it is.
func committed(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := load(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCommitsOfARealPayload looks up the commits of a nightly of November 2021,
// hypershift's support/releaseinfo/fixtures/4.10-image-references.json.
func TestCommitsOfARealPayload(t *testing.T) {
	file := committed(t)
	for _, c := range []struct{ driver, commit, version string }{
		{"aws-ebs", "8741c5f", "1.2.0"},
		// Its makefile says 1.5.0, as v1.5.1's own does; the tree is v1.5.1 and
		// a carried patch of 14 lines.
		{"azure-disk", "7b2a620", "1.5.1"},
		{"azure-file", "19be5d3", "1.7.0"},
		{"gcp-pd", "7405b5b", "1.3.1"},
		{"vsphere", "6fa85bd", "2.4.0-rc.1"},
	} {
		var got []string
		for _, row := range file.Commits {
			if row.Driver == c.driver && strings.HasPrefix(row.Commit, c.commit) {
				got = append(got, row.Version)
			}
		}
		if len(got) != 1 || got[0] != c.version {
			t.Errorf("%s %s is %v, want %s", c.driver, c.commit, got, c.version)
		}
	}
}

func TestCommittedCommits(t *testing.T) {
	file := committed(t)
	id := regexp.MustCompile(`^[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, row := range file.Commits {
		if !id.MatchString(row.Commit) || row.Date == "" || seen[row.Driver+row.Commit] {
			t.Errorf("%+v is malformed or there twice", row)
		}
		seen[row.Driver+row.Commit] = true
		if _, err := version.ParseDriver(row.Version); err != nil {
			t.Errorf("%+v: %v", row, err)
		}
	}
	if len(file.Commits) < 600 {
		t.Errorf("there are %d commits, fewer than ever", len(file.Commits))
	}
	if info, err := os.Stat(filepath.Join(dataDir, "commits.yaml")); err != nil || info.Size() > 600_000 {
		t.Errorf("the file has grown to %d bytes, %v", info.Size(), err)
	}
}

func TestCommittedReleases(t *testing.T) {
	file := committed(t)
	byMinor := map[string]catalog.Release{}
	for _, r := range file.Releases {
		byMinor[r.OpenShift] = r
	}
	known, err := readForks(forksFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range known.Forks {
		for minor := range byMinor {
			if f.Sidecar || before(minor, f.Since) {
				continue
			}
			rows := byMinor[minor].Drivers[f.Name]
			if len(rows) == 0 {
				t.Errorf("%s has no %s", minor, f.Name)
			}
			for i, row := range rows {
				first, last := i == 0, i == len(rows)-1
				if (row.FromZ == nil) != first || (row.UntilZ == nil) != last {
					t.Errorf("%s %s: row %d has the edges %s", minor, f.Name, i, patchRange(row))
				}
				if !first && *row.FromZ <= *rows[i-1].UntilZ {
					t.Errorf("%s %s: row %d begins at %d, inside the one before", minor, f.Name, i, *row.FromZ)
				}
				if len(row.Evidence) == 0 {
					t.Errorf("%s %s %s has no evidence", minor, f.Name, row.Version)
				}
			}
		}
	}
}

// TestDisputedCells holds those that one source or another tells wrong.
func TestDisputedCells(t *testing.T) {
	file := committed(t)
	for cell, want := range map[string]string{
		"4.9 azure-disk":  "1.5.1",                  // makefile: 1.5.0
		"4.11 aws-ebs":    "1.5.1",                  // nearest code: 1.6.0, by backports
		"4.12 aws-ebs":    "1.11.4",                 // makefile: 1.11.3
		"4.13 azure-disk": "1.26.1 1.26.7",          // makefile: 1.26.0
		"4.13 azure-file": "1.25.1",                 // makefile: 1.25.0
		"4.13 vsphere":    "3.0.0-rc.1 3.0.1 3.0.2", // 4.13.0 was built hours before 3.0.1 came
		"4.14 azure-file": "1.28.1 1.29.5",          // z-stream rebase
		"4.15 vsphere":    "3.0.2",                  // ancestry: 3.1.1, reverted
		"4.19 azure-file": "1.32.0 1.32.3",          // z-stream rebase
		"4.21 azure-disk": "1.33.5 1.34.2",          // z-stream rebase
		"4.21 smb":        "1.18.0",                 // nearest code: 1.19.0, by a backport
		"4.22 smb":        "1.18.0",                 // the same
		"4.22 aws-ebs":    "1.48.0",                 // ancestry: 1.55.0, reverted
		"4.22 gcp-pd":     "1.24.1",                 // ancestors: v999.1.0; manifest: 1.17.4
		"4.20 vsphere":    "3.5.0",                  // the first without csi-proxy
		"5.0 smb":         "",                       // no branch
	} {
		minor, driver, _ := strings.Cut(cell, " ")
		var got []string
		for _, r := range file.Releases {
			if r.OpenShift == minor {
				for _, row := range r.Drivers[driver] {
					got = append(got, row.Version)
				}
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s is %q, want %q", cell, s, want)
		}
	}
}

// builds.yaml and forks.yaml mean the same repositories, and the same branches.
func TestCommittedHeads(t *testing.T) {
	c := committed(t)
	known, err := readForks(forksFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range known.Forks {
		b := c.Build(f.Name)
		if b == nil {
			continue // secrets-store has no build
		}
		if "https://github.com/"+f.Fork != b.Git || "https://github.com/"+f.Upstream != b.Upstream {
			t.Errorf("%s is built from %s of %s, and surveyed as %s of %s", f.Name, b.Git, b.Upstream, f.Fork, f.Upstream)
		}
		for _, r := range c.Releases {
			if h := b.Head(r.OpenShift); h != nil && before(r.OpenShift, known.HeadsSince) {
				t.Errorf("%s has a head of %s, before %s", f.Name, r.OpenShift, known.HeadsSince)
			}
		}
	}
}
