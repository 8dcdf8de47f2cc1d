package payload

import (
	"regexp"

	"github.com/winbake/winbake/internal/ociimage"
)

var (
	// ownRelease is what Winbake writes; 5.0 alone, since WMCO had versions
	// from 5.0.0 on.
	ownRelease = regexp.MustCompile(`^4\.[0-9]+|^[5-9]\.[0-9]+$`)
	// wmcoRelease is the version of the Windows Machine Config Operator: 10.20
	// is for OpenShift 4.20, 11.0 for 5.0.
	wmcoRelease = regexp.MustCompile(`^v?1([01])\.([0-9]+)(?:\.|-|$)`)
	// oldRelease is one of WMCO's until 4.14, whole: a base image's own version
	// may be in the same label, such as 9.6 of UBI.
	oldRelease = regexp.MustCompile(`^v?([789])\.[0-9]+\.[0-9]+(?:-|$)`)
)

// ReleaseOf is the OpenShift release that an image's labels tell: ours carry
// it as their version, WMCO's from 4.12 on carry WMCO's. "" where they don't.
func ReleaseOf(labels map[string]string) string {
	if v := ownRelease.FindString(labels[ociimage.KeyVersion]); v != "" {
		return v
	}
	for _, key := range []string{"version", ociimage.KeyVersion} {
		if m := wmcoRelease.FindStringSubmatch(labels[key]); m != nil {
			return map[string]string{"0": "4.", "1": "5."}[m[1]] + m[2]
		}
	}
	if m := oldRelease.FindStringSubmatch(labels["version"]); m != nil {
		return map[string]string{"7": "4.12", "8": "4.13", "9": "4.14"}[m[1]]
	}
	return ""
}
