package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Licence texts and SBOM of this test's own program, which links modules.
func TestRelease(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := execute([]string{"licenses", self}, &text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Go 1.", "golang.org/x/mod v", "github.com/spdx/tools-golang v", "Redistribution and use"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the texts don't have %q", want)
		}
	}
	if strings.Count(text.String(), "Copyright 2009 The Go Authors") != 1 {
		t.Error("Go's licence isn't there once")
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	tw := tar.NewWriter(z)
	for name, data := range map[string][]byte{"verify": program, "README.md": []byte("a text\n")} {
		if err := tw.WriteHeader(&tar.Header{Name: name, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "a.tar.gz")
	if err := os.WriteFile(archive, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	for _, out := range []*bytes.Buffer{&one, &two} {
		if err := execute([]string{"sbom", archive}, out); err != nil {
			t.Fatal(err)
		}
	}
	var doc struct{ Packages []struct{ Name string } }
	if err := json.Unmarshal(one.Bytes(), &doc); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("%v, or it is another the second time", err)
	}
	names := ""
	for _, p := range doc.Packages {
		names += p.Name + "\n"
	}
	for _, want := range []string{"a.tar.gz\n", "verify\n", "stdlib\n", "github.com/spdx/tools-golang\n"} {
		if !strings.Contains(names, want) {
			t.Errorf("no package %q among\n%s", want, names)
		}
	}
	for _, args := range [][]string{nil, {"sbom"}, {"licenses"}, {"licenses", archive}, {"sbom", self}, {"sbom", archive + "none"}} {
		if err := execute(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
