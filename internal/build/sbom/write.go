package sbom

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// Encode writes the document of an image.
func (f Format) Encode(i *Image) ([]byte, error) {
	if f == CycloneDX {
		return i.cycloneDX()
	}
	return i.spdx()
}

// namespace is a document's name of its own: the image's digest decides it.
func (i *Image) namespace() string {
	return "https://winbake.dev/sbom/" + strings.ReplaceAll(i.Digest, ":", "-")
}

// unknown is SPDX's word for it.
const unknown = "NOASSERTION"

var purposes = map[string]string{kindImage: "CONTAINER", kindProgram: "APPLICATION", kindLibrary: "LIBRARY", kindFile: "FILE"}

func (i *Image) spdx() ([]byte, error) {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		// Conforma's rule sbom_spdx.matches_image compares the digest of a name that it can
		// read as a reference: with a host and a /.
		// https://github.com/conforma/policy/blob/main/policy/lib/image/image.rego
		DocumentName: "winbake.dev/" + i.name() + "@" + i.Digest, DocumentNamespace: i.namespace(),
		CreationInfo: &spdx.CreationInfo{Created: i.Created.UTC().Format(time.RFC3339), Creators: []common.Creator{{CreatorType: "Tool", Creator: "winbake"}}},
	}
	relate := func(from, kind, to string) {
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{RefA: common.MakeDocElementID("", from), Relationship: kind, RefB: common.MakeDocElementID("", to)})
	}
	relate("DOCUMENT", common.TypeRelationshipDescribe, "Image")
	for _, p := range i.parts() {
		pkg := &spdx.Package{
			PackageName: p.name, PackageSPDXIdentifier: common.ElementID(p.id), PackageVersion: p.version, PackageDownloadLocation: cmp.Or(p.source, unknown),
			PackageLicenseConcluded: cmp.Or(p.license, unknown), PackageLicenseDeclared: cmp.Or(p.license, unknown), PackageCopyrightText: unknown,
			PackageComment: p.comment, PrimaryPackagePurpose: purposes[p.kind],
		}
		if p.file != "" {
			pkg.PackageFileName = "payload/" + p.file
		}
		if p.sha256 != "" {
			pkg.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: p.sha256}}
		}
		if p.purl != "" {
			pkg.PackageExternalReferences = []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: p.purl}}
		}
		doc.Packages = append(doc.Packages, pkg)
		for _, use := range p.uses {
			switch {
			case use == "Base":
				relate(p.id, common.TypeRelationshipDescendantOf, use)
			case p.kind == kindImage:
				relate(p.id, common.TypeRelationshipContains, use)
			default:
				relate(p.id, common.TypeRelationshipDependsOn, use)
			}
		}
	}
	return indented(doc)
}

var types = map[string]cdx.ComponentType{kindImage: cdx.ComponentTypeContainer, kindProgram: cdx.ComponentTypeApplication, kindLibrary: cdx.ComponentTypeLibrary, kindFile: cdx.ComponentTypeFile}

// pathProperty is where a program or a file is in the image.
const pathProperty = "dev.winbake.path"

func (i *Image) cycloneDX() ([]byte, error) {
	bom := cdx.NewBOM()
	var components []cdx.Component
	var dependencies []cdx.Dependency
	for n, p := range i.parts() {
		c := cdx.Component{BOMRef: p.id, Type: types[p.kind], Name: p.name, Version: p.version, PackageURL: p.purl, Description: p.comment}
		if p.license != "" {
			c.Licenses = &cdx.Licenses{{Expression: p.license}}
		}
		if p.sha256 != "" {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: p.sha256}}
		}
		if p.source != "" {
			c.ExternalReferences = &[]cdx.ExternalReference{{Type: cdx.ERTypeVCS, URL: p.source}}
		}
		if p.file != "" {
			c.Properties = &[]cdx.Property{{Name: pathProperty, Value: "payload/" + p.file}}
		}
		uses := append([]string{}, p.uses...)
		dependencies = append(dependencies, cdx.Dependency{Ref: p.id, Dependencies: &uses})
		if n == 0 {
			bom.Metadata = &cdx.Metadata{Timestamp: i.Created.UTC().Format(time.RFC3339), Component: &c,
				Tools: &cdx.ToolsChoice{Components: &[]cdx.Component{{Type: cdx.ComponentTypeApplication, Name: "winbake"}}}}
			continue
		}
		components = append(components, c)
	}
	bom.Components, bom.Dependencies = &components, &dependencies
	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return b.Bytes(), err
}

func indented(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", " ")
	return append(data, '\n'), err
}
