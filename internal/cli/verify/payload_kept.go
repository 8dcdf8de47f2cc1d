package verify

import (
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// keptFindings tell which files came with the base. Pins account for them where
// they pin the base itself; that they are its files is what the digest proves.
func keptFindings(summary verify.Summary, want *pinned) (fs []finding.Finding) {
	for _, image := range summary.Images {
		for _, k := range image.Kept {
			f := finding.Finding{ID: verify.IDKept, Severity: finding.Info, Object: payload.Root + "/" + k.Path, Observed: "labels say that it came with the base " + k.Base}
			if len(summary.Images) > 1 {
				f.Object = image.Platform + " " + f.Object
			}
			if want != nil {
				pinnedBase(&f, image.Base, want.file.Base)
			}
			fs = append(fs, f)
		}
	}
	return fs
}

// pinnedBase compares the base with that of versions.yaml.
func pinnedBase(f *finding.Finding, base, pin string) {
	_, digest, byDigest := strings.Cut(pin, "@")
	switch {
	case !byDigest:
		f.Severity, f.Expected = finding.Warn, "a base that versions.yaml pins"
		f.Why = "what no pin accounts for gets onto the nodes"
		f.Remedy = "base: REPOSITORY@" + base + " in versions.yaml, if that is the base"
	case digest != base:
		f.Severity, f.Observed, f.Expected = finding.Block, "labels say that it came with the base "+base, digest+", the base of versions.yaml"
		f.Why = "files of another operator get onto the nodes"
		f.Remedy = "bake the payload again, or change base: in versions.yaml, whichever is right"
	}
}
