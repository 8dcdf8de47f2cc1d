package catalog

// Build is how one Windows program is built from OpenShift's fork: a CSI driver's,
// or that of a container beside it.
type Build struct {
	// Name is a driver's, or a sidecar's: node-driver-registrar, livenessprobe.
	Name string `json:"name"`
	// Git is the fork, Upstream the project that it forks. Both are URLs.
	Git      string `json:"git" check:"repository URL"`
	Upstream string `json:"upstream" check:"repository URL"`
	// Package is the program's, ./cmd/x; Exe its name in the image.
	Package string `json:"package" check:"package"`
	Exe     string `json:"exe" check:"text"`
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
	OpenShift string `json:"openshift" check:"release"`
	Commit    string `json:"commit" check:"full commit"` // full
	Version   string `json:"version" check:"version"`    // of upstream, without a v
	Date      string `json:"date"`                       // of the commit, 2026-05-11
	// Picks are the subjects of upstream's commits that the fork has taken since it
	// has that version: an upstream image of the version is without them.
	Picks []string `json:"picks,omitempty"`
}

// Execution is one run of a program that was built from a commit, in Wine, with the
// kubelet played (test/wine/winedriver).
type Execution struct {
	Commit  string `json:"commit" check:"full commit"` // full
	Version string `json:"version" check:"version"`    // that it gave, without a v
	Mode    string `json:"mode"`                       // hostprocess or pipes
	// CSIProxy is the version that ran beside it; "" for none.
	CSIProxy string `json:"csiProxy,omitempty"`
	// Failed is the first call of the kubelet's that it didn't answer, and Note says
	// why; "" for none: a volume was staged, published, and all undone.
	Failed string `json:"failed,omitempty"`
	// Pipes are those of csi-proxy that it dialled, Asked the methods that it called.
	Pipes []string `json:"pipes,omitempty"`
	Asked []string `json:"asked,omitempty"`
	Date  string   `json:"date" check:"text"`
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
