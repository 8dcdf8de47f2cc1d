package catalog

import (
	"fmt"
	"regexp"
	"strings"
)

// Build is how one Windows program is built from OpenShift's fork: a CSI driver's,
// or that of a container beside it.
type Build struct {
	// Name is a driver's, or a sidecar's: node-driver-registrar, livenessprobe.
	Name string `json:"name"`
	// Git is the fork, Upstream the project that it forks. Both are URLs.
	Git      string `json:"git"`
	Upstream string `json:"upstream"`
	// Package is the program's, ./cmd/x; Exe its name in the image.
	Package string `json:"package"`
	Exe     string `json:"exe"`
	// Stamp are the variables that the fork's Makefile sets, as versions.yaml has
	// them.
	Stamp map[string]string `json:"stamp,omitempty"`
	// Heads are the release branches' newest commits at AsOf.
	Heads []Head `json:"heads"`
	// Executed is what the program did when it ran, where Lines say what was read.
	Executed []Execution `json:"executed,omitempty"`
	Evidence []Evidence  `json:"evidence"`
}

// Head is the newest commit of a release branch when it was looked at. A z-stream
// has it or an older one.
type Head struct {
	OpenShift string `json:"openshift"`
	Commit    string `json:"commit"`  // full
	Version   string `json:"version"` // of upstream, without a v
	Date      string `json:"date"`    // of the commit, 2026-05-11
}

// Execution is one run of a program that was built from a commit, in Wine, with the
// kubelet played (test/winedriver).
type Execution struct {
	Commit  string `json:"commit"`  // full
	Version string `json:"version"` // that it gave, without a v
	Mode    string `json:"mode"`    // hostprocess or pipes
	// CSIProxy is the version that ran beside it; "" for none.
	CSIProxy string `json:"csiProxy,omitempty"`
	// Failed is the first call of the kubelet's that it didn't answer, and Note says
	// why; "" for none: a volume was staged, published, and all undone.
	Failed string `json:"failed,omitempty"`
	// Pipes are those of csi-proxy that it dialled, Asked the methods that it called.
	Pipes []string `json:"pipes,omitempty"`
	Asked []string `json:"asked,omitempty"`
	Date  string   `json:"date"`
	Note  string   `json:"note,omitempty"`
}

// Sidecar reports whether the program isn't a driver but runs beside each.
func (b *Build) Sidecar() bool {
	return b.Name == "node-driver-registrar" || b.Name == "livenessprobe"
}

// Build returns how the program of that name is built, nil for one that isn't
// known.
func (c *Catalog) Build(name string) *Build {
	return find(c.Builds, func(b *Build) bool { return b.Name == name })
}

// Head returns the head of a minor's release branch, nil for one that wasn't
// looked at.
func (b *Build) Head(minor string) *Head {
	return find(b.Heads, func(h *Head) bool { return h.OpenShift == minor })
}

var fullCommit = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (k *checker) checkBuilds() {
	for _, b := range k.into.Builds {
		r := k.row(sectionBuilds, b.Name)
		if !b.Sidecar() {
			r.driver(b.Name, "name")
		}
		r.wanted(b.Exe, "exe")
		for _, url := range []string{b.Git, b.Upstream} {
			if !strings.HasPrefix(url, "https://") {
				r.bad(fmt.Sprintf("%q isn't a repository", url), "write https://HOST/OWNER/NAME")
			}
		}
		if !strings.HasPrefix(b.Package, "./") {
			r.badAt([]any{"package"}, fmt.Sprintf("%q isn't a package of the repository", b.Package), "write ./cmd/x")
		}
		for i, h := range b.Heads {
			r.release(h.OpenShift, "heads", i, "openshift")
			r.version(h.Version, "heads", i, "version")
			if !fullCommit.MatchString(h.Commit) {
				r.badAt([]any{"heads", i, "commit"}, fmt.Sprintf("%q isn't a full commit", h.Commit), "write all 40 digits")
			}
			if c, known := k.into.ByCommit(b.Name, h.Commit); known && parseDriver(c.Version).Core() != parseDriver(h.Version).Core() {
				r.badAt([]any{"heads", i, "version"}, "commits says that this commit is of "+c.Version, "write "+c.Version)
			}
		}
		for i, e := range b.Executed {
			r.version(e.Version, "executed", i, "version")
			r.wanted(e.Date, "executed", i, "date")
			if !fullCommit.MatchString(e.Commit) {
				r.badAt([]any{"executed", i, "commit"}, fmt.Sprintf("%q isn't a full commit", e.Commit), "write all 40 digits")
			}
		}
		r.evidence(b.Evidence)
	}
}
