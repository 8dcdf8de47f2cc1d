package main

import (
	"strings"
	"testing"
	"time"
)

const releasesYML = `releases:
  4.14.26:
    assembly:
      basis:
        brew_event: 57962283
        reference_releases:
          aarch64: 4.14.0-0.nightly-arm64-2024-05-15-100856
          x86_64: 4.14.0-0.nightly-2024-05-15-100139
  4.14.25:
    assembly:
      basis:
        reference_releases:
          x86_64: 4.14.0-0.nightly-2024-05-08-232852
      members:
        images:
          - distgit_key: azure-file-csi-driver
            metadata:
              is:
                nvr: ose-azure-file-csi-driver-container-v4.14.0-202405082212.p0.gf28a507.assembly.stream.el8
          - distgit_key: '*'
            metadata:
              container_yaml!: {}
  4.14.2:
    assembly:
      basis:
        # reference_releases:
        #   x86_64: 4.14.0-0.nightly-2023-11-08-004805
        brew_event: 1
  4.14.1:
    assembly:
      basis:
        assembly: 4.14.0
        reference_releases!: {}
  4.14.0:
    assembly:
      basis:
        assembly: rc.7
  rc.7:
    assembly:
      basis:
        reference_releases:
          x86_64: 4.14.0-0.nightly-2023-10-13-073537
  art7407:
    assembly:
      type: custom
  4.14.99:
    assembly:
      basis:
        assembly: 4.14.99
`

func TestBuilt(t *testing.T) {
	got, err := built(releasesYML, "4.14")
	if err != nil {
		t.Fatal(err)
	}
	for z, want := range map[int]string{
		26: "4.14.0-0.nightly-2024-05-15-100139",
		25: "4.14.0-0.nightly-2024-05-08-232852",
		2:  "", // it is only a comment there
		1:  "4.14.0-0.nightly-2023-10-13-073537",
		0:  "4.14.0-0.nightly-2023-10-13-073537",
		99: "", // names itself as its own basis
	} {
		p, ok := got[z]
		if !ok || p.nightly != want || p.built.IsZero() != (want == "") {
			t.Errorf("4.14.%d is %+v, want %q", z, p, want)
		}
	}
	if len(got) != 6 {
		t.Errorf("there are %d patches, want 6: a candidate or a custom build is none", len(got))
	}
	if at := got[25].built; at != time.Date(2024, 5, 8, 23, 28, 52, 0, time.UTC) {
		t.Errorf("4.14.25 was built at %s", at)
	}
	if pin := got[25].pins["azure-file-csi-driver"]; pin != "f28a507" {
		t.Errorf("4.14.25 names the commit %q, want f28a507", pin)
	}
	if _, err := built("releases: [", "4.14"); err == nil || !strings.Contains(err.Error(), "4.14") {
		t.Errorf("broken YAML gives %v", err)
	}
}

func TestPinned(t *testing.T) {
	for nvr, want := range map[string]string{
		"ose-aws-ebs-csi-driver-container-v4.15.0-202404161612.p0.gb692edb.assembly.stream.el9":        "aws-ebs-csi-driver b692edb",
		"ose-vmware-vsphere-csi-driver-container-v4.12.0-202404170201.p0.ge4c0e10.assembly.stream.el8": "vmware-vsphere-csi-driver e4c0e10",
		"vmware-vsphere-syncer-container-v4.12.0-202404171248.p0.ge4c0e10.assembly.stream.el8":         "vmware-vsphere-syncer e4c0e10",
		"microshift-4.14.25-202405091434.p0.ge013d20.assembly.4.14.25.el9":                             "",
		"": "",
	} {
		got := ""
		if m := pinned.FindStringSubmatch(nvr); m != nil {
			got = m[1] + " " + m[2]
		}
		if got != want {
			t.Errorf("%q gives %q, want %q", nvr, got, want)
		}
	}
}

func TestPromotedAndMerge(t *testing.T) {
	log := []string{
		"2026-03-21T10:00:00+00:00 channels/candidate-4.21: Promote 4.21.7",
		"2026-03-27T10:00:00+02:00 channels/candidate-4.21: Promote 4.21.8",
		"2026-04-01T10:00:00+00:00 channels/stable-4.21: Promote 4.21.8",
		"2026-03-27T10:00:00+00:00 channels/candidate-4.21: Promote 4.21.0-rc.3",
		"2026-03-27T10:00:00+00:00 channels/candidate-4.21: Promote 4.20.9",
		"yesterday channels/candidate-4.21: Promote 4.21.9",
		"2026-03-28T10:00:00+00:00 README: fix a link",
		"",
	}
	dates := promoted(log, "4.21")
	if len(dates) != 2 || dates[8] != time.Date(2026, 3, 27, 8, 0, 0, 0, time.UTC) {
		t.Fatalf("promoted are %v, want 7 and 8, each with its first date", dates)
	}
	got := merge(map[int]patch{
		9: {z: 9, nightly: "n", built: cut},
		8: {z: 8, pins: map[string]string{"driver": "abc"}},
		6: {z: 6},
	}, dates)
	if len(got) != 3 || got[0].z != 7 || got[1].z != 8 || got[2].z != 9 {
		t.Fatalf("merged are %+v, want 7, 8 and 9 in order; nothing dates 6", got)
	}
	if got[1].built != dates[8].Add(-typicalLag) || got[1].pins["driver"] != "abc" || got[2].built != cut {
		t.Errorf("merged are %+v", got)
	}
}

func TestHas(t *testing.T) {
	for name, c := range map[string]struct {
		p         patch
		after     time.Duration // from the build to the merge
		has, sure bool
	}{
		"merged later":              {nightly(1, 10), time.Minute, false, true},
		"merged on the same day":    {nightly(1, 10), -5 * time.Hour, true, false},
		"merged days before":        {nightly(1, 10), -48 * time.Hour, true, true},
		"an estimate, before":       {estimated(nightly(1, 10)), -7 * 24 * time.Hour, true, false},
		"an estimate, long before":  {estimated(nightly(1, 10)), -9 * 24 * time.Hour, true, true},
		"an estimate, after":        {estimated(nightly(1, 10)), 24 * time.Hour, false, false},
		"an estimate, long after":   {estimated(nightly(1, 10)), 72 * time.Hour, false, true},
		"an estimate, at the build": {estimated(nightly(1, 10)), 0, false, false},
	} {
		if has, sure := c.p.has(c.p.built.Add(c.after)); has != c.has || sure != c.sure {
			t.Errorf("%s: has %v, sure %v; want %v, %v", name, has, sure, c.has, c.sure)
		}
	}
}

func FuzzBuilt(f *testing.F) {
	f.Add(releasesYML, "4.14")
	f.Add("releases:\n  4.8.2: &a\n    assembly: {basis: {assembly: 4.8.3}}\n  4.8.3: *a\n", "4.8")
	f.Add("releases: {4.8.1: null}", "4.8")
	f.Fuzz(func(t *testing.T, text, minor string) {
		got, err := built(text, minor)
		if err != nil {
			return
		}
		for z, p := range got {
			if p.z != z || z < 0 || (p.nightly == "") != p.built.IsZero() {
				t.Errorf("patch %d is %+v", z, p)
			}
		}
	})
}

func FuzzReleased(f *testing.F) {
	for _, tag := range []string{"v1.2.3", "v999.1.0", "1.7.5-rc1", "v.2.0.0-beta.5", "v1.2.3-rc."} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		v, ok := released(tag)
		if ok == v.IsZero() {
			t.Errorf("released(%q) is %v, %v", tag, v, ok)
		}
		if v.Major > 998 {
			t.Errorf("released(%q) takes a sentinel", tag)
		}
	})
}
