package version

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// Range is a set of versions, such as ">=1.28.0 <1.33.0".
type Range struct {
	text  string
	ranks *semver.Constraints
}

// ParseRange reads a constraint as Masterminds/semver does.
func ParseRange(s string) (Range, error) {
	c, err := semver.NewConstraint(s)
	if err != nil {
		return Range{}, fmt.Errorf("read the version range %q: %w", s, err)
	}
	return Range{s, c}, nil
}

// Contains compares d's core alone: OpenShift's forks carry the last rc of a
// release and not its final tag, and the two differ by a manifest
// (openshift/vmware-vsphere-csi-driver, v3.5.0-rc.3).
func (r Range) Contains(d Driver) bool {
	return r.ranks != nil && r.ranks.Check(semver.New(d.Major, d.Minor, d.Patch, "", ""))
}

// String is the text that was read.
func (r Range) String() string { return r.text }
