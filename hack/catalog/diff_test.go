package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

func TestDiff(t *testing.T) {
	old := &catalog.Catalog{
		AsOf: "2026-08-31",
		Releases: []catalog.Release{
			{OpenShift: "4.9", Drivers: map[string][]catalog.Shipped{"smb": {{Version: "1.0.0", Certainty: catalog.Exact, Evidence: []catalog.Evidence{{Source: "a"}}}}}},
			{OpenShift: "4.10", Next: []string{"4.11"}, Drivers: map[string][]catalog.Shipped{"smb": {{Version: "1.1.0", Certainty: catalog.Default}}, "vsphere": {{Version: "3.0.0"}}}},
		},
		WMCO: []catalog.WMCORelease{{From: "10.9.0", CSIProxy: "1.1.3"}},
	}
	three := 3
	made := &catalog.Catalog{
		AsOf: "2026-11-20",
		Releases: []catalog.Release{
			{OpenShift: "4.9", Drivers: map[string][]catalog.Shipped{"smb": {{Version: "1.0.0", Certainty: catalog.Exact, Evidence: []catalog.Evidence{{Source: "b"}}}}}},
			{OpenShift: "4.10", Next: []string{"4.11", "4.12"}, Drivers: map[string][]catalog.Shipped{"smb": {{Version: "1.1.0", UntilZ: &three, Certainty: catalog.Range}, {Version: "1.2.0", FromZ: &three}}}},
			{OpenShift: "4.11", Kubernetes: "1.24"},
		},
		Gates: []catalog.Gate{{Key: "ack-x", From: "4.9", To: "4.10"}},
	}
	var out bytes.Buffer
	if err := printDiff(&out, old, made); err != nil {
		t.Fatal(err)
	}
	want := `- catalog: apiVersion , asOf 2026-08-31
+ catalog: apiVersion , asOf 2026-11-20
+ gates ack-x: applies , from 4.9, key ack-x, to 4.10
- releases 4.10 drivers smb 1.1.0: certainty default, version 1.1.0
+ releases 4.10 drivers smb 1.1.0: certainty range, untilZ 3, version 1.1.0
+ releases 4.10 drivers smb 1.2.0: certainty , fromZ 3, version 1.2.0
- releases 4.10 drivers vsphere 3.0.0: certainty , version 3.0.0
+ releases 4.10 next #2: 4.12
+ releases 4.11: kubeletSkew 0, kubernetes 1.24, openshift 4.11
- wmco 10.9.0: csiProxy 1.1.3, from 10.9.0, openshift 
`
	if out.String() != want {
		t.Errorf("the diff is\n%s, want\n%s", out.String(), want)
	}
	out.Reset()
	if err := printDiff(&out, old, old); err != nil || out.String() != "nothing changed\n" {
		t.Errorf("a catalog and itself: %q, %v", out.String(), err)
	}
}

func TestDiffCommand(t *testing.T) {
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS(dataDir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "catalog.yaml")
	if err := os.WriteFile(path, []byte("apiVersion: winbake.dev/catalog/v1\nasOf: \"2020-01-01\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := execute(t.Context(), []string{"diff", data}, &out)
	want := "- catalog: apiVersion winbake.dev/catalog/v1, asOf 2020-01-01, kind Catalog\n+ catalog: apiVersion winbake.dev/catalog/v1, asOf " + committed(t).AsOf + ", kind Catalog\n"
	if err != nil || out.String() != want {
		t.Errorf("%q, %v; want %q", out.String(), err, want)
	}
	for _, args := range [][]string{nil, {"undo"}, {"diff"}, {"diff", "a", "b", "c"}, {"diff", "none"}, {"diff", data, "none"}, {"make"}, {"make", "-clones", "none", "more"}, {"diff", "-x"}} {
		if err := execute(t.Context(), args, &out); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}
