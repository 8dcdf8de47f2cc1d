package attest

import (
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/sbom"
)

// BuildType is what builds a payload: `bake payload`, with versions.yaml and its lock.
const BuildType = "https://github.com/winbake/winbake/payload/v1"

// Provenance is SLSA's, version 1: https://slsa.dev/spec/v1.1/provenance
type Provenance struct {
	BuildDefinition struct {
		BuildType            string       `json:"buildType"`
		ExternalParameters   Parameters   `json:"externalParameters"`
		ResolvedDependencies []Dependency `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// Parameters are what a build was given.
type Parameters struct {
	// Versions is the text of versions.yaml, and Lock those of versions.lock by name.
	Versions string            `json:"versions.yaml"`
	Lock     map[string]string `json:"versions.lock"`
	// Options are the flags that decide the image, without their dashes.
	Options map[string][]string `json:"options,omitempty"`
}

// Options are the flags of bake payload that decide an image, and a variable. No other
// name may be in provenance: whoever builds from it would give that flag.
var Options = []string{"SOURCE_DATE_EPOCH", "accept", "annotation", "base", "compression", "format", "label", "only", "platform", "replace-payload", "with-verify"}

// Dependency is one input.
type Dependency struct {
	URI         string            `json:"uri"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ReadParameters reads the pins of a file and their lock as they are on disk.
func ReadParameters(f *pins.File) (Parameters, error) {
	p := Parameters{Lock: map[string]string{}, Options: map[string][]string{}}
	versions, err := os.ReadFile(f.Path)
	if err != nil {
		return p, err
	}
	p.Versions = string(versions)
	root := os.DirFS(f.LockDir())
	return p, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		p.Lock[name] = string(data)
		return err
	})
}

// NewProvenance says how the components were built, by the builder with an id, a URI.
func NewProvenance(builder string, parameters Parameters, base string, built []sbom.Built) *Provenance {
	p := &Provenance{}
	p.BuildDefinition.BuildType, p.BuildDefinition.ExternalParameters = BuildType, parameters
	p.RunDetails.Builder.ID = builder
	seen := map[string]bool{}
	add := func(d Dependency) {
		if !seen[d.URI] {
			seen[d.URI] = true
			p.BuildDefinition.ResolvedDependencies = append(p.BuildDefinition.ResolvedDependencies, d)
		}
	}
	if base != "" {
		add(Dependency{URI: "pkg:oci/base@" + url.QueryEscape(base), Digest: map[string]string{"sha256": strings.TrimPrefix(base, "sha256:")}})
	}
	for _, b := range built {
		l := b.Locked
		switch {
		case l.Git != "":
			add(Dependency{URI: "git+" + l.Git + "@" + l.Commit, Digest: map[string]string{"gitCommit": l.Commit}})
		case b.Component.File != "":
			add(Dependency{URI: b.Component.File, Digest: map[string]string{"sha256": l.SHA256}})
		}
		for _, sum := range l.ToolchainSums {
			system, h1, _ := strings.Cut(sum, " ")
			add(Dependency{URI: sbom.PURL("golang.org/toolchain", "v0.0.1-"+l.Toolchain+"."+system), Annotations: map[string]string{"h1": h1}})
		}
		for _, m := range l.Modules {
			if used := m.Used(); m.Sum != "" {
				add(Dependency{URI: sbom.PURL(used.Path, used.Version), Annotations: map[string]string{"h1": m.Sum}})
			}
		}
	}
	return p
}
