// Package sbom writes what a payload is made of, as SPDX 2.3 or CycloneDX 1.6, and reads
// it back. All of it comes from the pins, their lock and the sums of the files: the same
// image has the same document.
package sbom

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/payload"
)

// Format is a form of SBOM.
type Format string

// The formats, and None for no SBOM.
const (
	SPDX      Format = "spdx"
	CycloneDX Format = "cyclonedx"
	None      Format = "none"
)

// MediaType is a format's media type: https://github.com/opencontainers/image-spec has it
// as a referrer's artifactType.
func (f Format) MediaType() string {
	if f == CycloneDX {
		return "application/vnd.cyclonedx+json"
	}
	return "application/spdx+json"
}

// Suffix is what a file beside an output ends in.
func (f Format) Suffix() string {
	if f == CycloneDX {
		return ".cdx.json"
	}
	return ".spdx.json"
}

// Image is what an SBOM is of.
type Image struct {
	Digest  string // "sha256:<hex>" of its manifest or index
	Release string // OpenShift's, "4.20"
	Created time.Time
	// Base is the digest of the image below it, "" for none.
	Base  string
	Built []Built
	// Kept are the base's own files in the payload.
	Kept []payload.KeptFile
}

// Built is one component as it is in the payload.
type Built struct {
	*pins.Component
	Locked *pins.Locked
	// SHA256 is lower-case hex, of the file as it is there.
	SHA256 string
}

// part is one package of a document. uses are the ids of what it is made of.
type part struct {
	id, kind, name, version, purl string
	source, license, sha256, file string
	comment                       string
	uses                          []string
}

// The kinds of parts.
const (
	kindImage   = "container"
	kindProgram = "application"
	kindLibrary = "library"
	kindFile    = "file"
)

// name is the same wherever the image lies, so that its document is.
func (i *Image) name() string { return "windows-node-payload-" + i.Release }

// parts are the image's, itself first.
func (i *Image) parts() []part {
	image := part{id: "Image", kind: kindImage, name: i.name(), version: i.Digest, purl: "pkg:oci/" + i.name() + "@" + url.QueryEscape(i.Digest),
		sha256: strings.TrimPrefix(i.Digest, "sha256:"), comment: "the Windows node payload for OpenShift " + i.Release}
	var all []part
	modules := map[string]string{} // ids by purl
	add := func(p part) string {
		if id, known := modules[p.purl]; known && p.purl != "" {
			return id
		}
		p.id = idOf(p.kind, p.name, p.version, len(all))
		modules[p.purl] = p.id
		all = append(all, p)
		return p.id
	}
	for _, b := range i.Built {
		p := program(b)
		if v, ok := strings.CutPrefix(b.Locked.Toolchain, "go"); ok {
			p.uses = append(p.uses, add(part{kind: kindLibrary, name: "stdlib", version: v, purl: "pkg:golang/stdlib@" + v, license: "BSD-3-Clause", comment: strings.Join(b.Locked.ToolchainSums, "\n")}))
		}
		for _, m := range b.Locked.Modules {
			p.uses = append(p.uses, add(library(m)))
		}
		p.id = idOf(p.kind, b.Name, "", len(all))
		all = append(all, p)
		image.uses = append(image.uses, p.id)
	}
	for _, k := range i.Kept {
		p := part{kind: kindFile, name: path.Base(k.Path), file: k.Path, sha256: k.SHA256, comment: "came with the base image " + k.Base}
		p.id = idOf(p.kind, p.name, "", len(all))
		all = append(all, p)
		image.uses = append(image.uses, p.id)
	}
	if i.Base != "" {
		base := part{id: "Base", kind: kindImage, name: "base image", version: i.Base, sha256: strings.TrimPrefix(i.Base, "sha256:"), comment: "the image that the payload was put onto"}
		all = append(all, base)
		image.uses = append(image.uses, base.id)
	}
	return append([]part{image}, all...)
}

// program is a component: a program, or a file that is carried.
func program(b Built) part {
	p := part{kind: kindFile, name: b.Name, version: cmp.Or(b.Component.Version, b.Locked.Commit), file: b.Payload, sha256: b.SHA256}
	if b.Program() {
		p.kind = kindProgram
	}
	switch {
	case b.Module != "":
		p.purl = PURL(b.Module, b.Component.Version)
		if sub := strings.Trim(strings.TrimPrefix(b.ImportPath(), b.Module), "/"); sub != "" {
			p.purl += "#" + sub
		}
		p.comment = "h1 of the module: " + b.Locked.Sum
	case b.Git != "":
		p.source = "git+" + b.Git + "@" + b.Locked.Commit
		p.purl = "pkg:generic/" + url.PathEscape(b.Name) + "@" + b.Locked.Commit + "?vcs_url=" + url.QueryEscape(p.source)
	}
	for _, m := range b.Locked.Modules {
		if m.Path == cmp.Or(b.Module, b.Locked.MainModule) {
			p.license = license(m.Licenses)
		}
	}
	return p
}

// library is a linked module: what is compiled, which may be what replaces it.
func library(m pins.LockedModule) part {
	used := m.Used()
	p := part{kind: kindLibrary, name: used.Path, version: used.Version, license: license(m.Licenses)}
	if m.Replace != nil {
		p.comment = "replaces " + m.Path + " " + m.Version
	}
	if p.version != "" && p.version != "(devel)" {
		p.purl = PURL(p.name, p.version)
	}
	if m.Sum != "" {
		p.comment = strings.TrimSpace(p.comment + "\n" + m.Sum)
	}
	return p
}

// PURL is a Go module's package URL: its type has lower-case letters alone
// (https://github.com/package-url/purl-spec, types-doc/golang-definition.md).
func PURL(module, version string) string {
	return "pkg:golang/" + strings.ToLower(module) + "@" + url.QueryEscape(version)
}

// license is an SPDX expression, "" for unknown.
func license(ids []string) string {
	if slices.Contains(ids, "NOASSERTION") {
		return ""
	}
	return strings.Join(ids, " AND ")
}

var noID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// idOf is a part's, which the number makes its own.
func idOf(kind, name, version string, n int) string {
	return fmt.Sprintf("%s-%d-%s", kind, n, strings.Trim(noID.ReplaceAllString(name+"-"+version, "-"), "-"))
}
