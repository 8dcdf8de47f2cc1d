// Command release writes what an archive of a release has beside the programs:
//
//	go run ./hack/release licenses PROGRAM... > THIRD-PARTY.txt   # the licence texts of all that is linked
//	go run ./hack/release sbom ARCHIVE > ARCHIVE.sbom.json        # SPDX 2.3 of the programs in it
//
// Both go by what programs say of themselves (go version -m), and texts come from the
// module cache that they were built from.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"

	"github.com/winbake/winbake/hack/notices"
)

func main() {
	if err := execute(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func execute(args []string, w io.Writer) error {
	switch {
	case len(args) > 1 && args[0] == "licenses":
		return notices.Write(args[1:], w)
	case len(args) == 2 && args[0] == "sbom":
		return sbom(args[1], w)
	}
	return errors.New("licenses PROGRAM..., or sbom ARCHIVE")
}

// sbom writes SPDX of an archive: its programs, and the modules of each.
func sbom(archive string, w io.Writer) error {
	data, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	files, err := unpack(archive, data)
	if err != nil {
		return fmt.Errorf("read %s: %w", archive, err)
	}
	base := filepath.Base(archive)
	sum := func(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: base,
		DocumentNamespace: "https://winbake.dev/sbom/" + sum(data),
		// No time: the same archive gives the same document.
		CreationInfo: &spdx.CreationInfo{Created: "1970-01-01T00:00:00Z", Creators: []common.Creator{{CreatorType: "Tool", Creator: "winbake"}}},
	}
	ids := map[string]string{}
	add := func(parent, relation, name, version, purl, sha256 string) string {
		key := name + "@" + version + sha256
		id, known := ids[key]
		if !known {
			id = fmt.Sprintf("Package-%d", len(ids))
			ids[key] = id
			p := &spdx.Package{PackageName: name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: version, PackageDownloadLocation: "NOASSERTION"}
			if purl != "" {
				p.PackageExternalReferences = []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl}}
			}
			if sha256 != "" {
				p.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: sha256}}
			}
			doc.Packages = append(doc.Packages, p)
		}
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{RefA: common.MakeDocElementID("", parent), Relationship: relation, RefB: common.MakeDocElementID("", id)})
		return id
	}
	root := add("DOCUMENT", common.TypeRelationshipDescribe, base, "", "", sum(data))
	programs := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b, err := buildinfo.Read(bytes.NewReader(files[name]))
		if err != nil {
			continue // a text
		}
		programs++
		program := add(root, common.TypeRelationshipContains, name, b.Main.Version, purl(b.Main.Path, b.Main.Version), sum(files[name]))
		add(program, common.TypeRelationshipDependsOn, "stdlib", strings.TrimPrefix(b.GoVersion, "go"), purl("stdlib", strings.TrimPrefix(b.GoVersion, "go")), "")
		for _, m := range notices.Linked(b) {
			add(program, common.TypeRelationshipDependsOn, m.Path, m.Version, purl(m.Path, m.Version), "")
		}
	}
	if programs == 0 {
		return fmt.Errorf("%s has no program of Go", archive)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(doc)
}

// purl is a Go module's: https://github.com/package-url/purl-spec
func purl(name, version string) string {
	if version == "" || version == "(devel)" {
		return "pkg:golang/" + name
	}
	return "pkg:golang/" + name + "@" + strings.ReplaceAll(version, "+", "%2B")
}

func unpack(name string, data []byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	if path.Ext(name) == ".zip" {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err == nil {
				files[f.Name], err = io.ReadAll(r)
			}
			if err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err == nil {
			files[h.Name], err = io.ReadAll(t)
		}
		if err != nil {
			return nil, err
		}
	}
}
