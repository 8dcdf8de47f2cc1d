package version

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"

	"github.com/Masterminds/semver/v3"

	"github.com/winbake/winbake/internal/base/printable"
)

// OpenShift is an OpenShift or OKD release: 4.20, 4.20.3, 4.21.0-rc.1,
// 4.19.0-okd-scos.16.
type OpenShift struct {
	Major, Minor uint64
	// Patch is -1 where only the minor is named.
	Patch int
	// Pre is what follows the patch, "rc.1".
	Pre string
}

var openshift = regexp.MustCompile(`^v?([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,4})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?)?$`)

// ParseOpenShift reads a release or a minor.
func ParseOpenShift(s string) (OpenShift, error) {
	m := openshift.FindStringSubmatch(s)
	if m == nil {
		return OpenShift{}, &Unreadable{printable.Clip(s), "a release is written 4.20 or 4.20.3"}
	}
	o := OpenShift{Patch: -1, Pre: m[4]}
	// The expression bounds all three numbers.
	o.Major, _ = strconv.ParseUint(m[1], 10, 64)
	o.Minor, _ = strconv.ParseUint(m[2], 10, 64)
	if m[3] != "" {
		o.Patch, _ = strconv.Atoi(m[3])
	}
	return o, nil
}

// Compare orders by release; a minor alone sorts before its first patch.
func (o OpenShift) Compare(p OpenShift) int {
	return cmp.Or(o.CompareMinor(p), cmp.Compare(o.Patch, p.Patch), comparePre(o.Pre, p.Pre))
}

// CompareMinor orders by major and minor alone.
func (o OpenShift) CompareMinor(p OpenShift) int {
	return cmp.Or(cmp.Compare(o.Major, p.Major), cmp.Compare(o.Minor, p.Minor))
}

func comparePre(a, b string) int {
	return semver.New(0, 0, 0, a, "").Compare(semver.New(0, 0, 0, b, ""))
}

// MinorString is "4.20".
func (o OpenShift) MinorString() string { return fmt.Sprintf("%d.%d", o.Major, o.Minor) }

// String is the release as it was written, without a v or build metadata.
func (o OpenShift) String() string {
	s := o.MinorString()
	if o.Patch >= 0 {
		s += "." + strconv.Itoa(o.Patch)
	}
	if o.Pre != "" {
		s += "-" + o.Pre
	}
	return s
}

// IsZero tells whether o is the zero value, which is no release.
func (o OpenShift) IsZero() bool { return o == OpenShift{} }

// Kubernetes is a Kubernetes version, as a kubelet or an API server says it.
type Kubernetes struct{ Major, Minor, Patch uint64 }

var kubernetes = regexp.MustCompile(`^v?([0-9]{1,2})\.([0-9]{1,3})(?:\.([0-9]{1,4}))?(?:[-+].*)?$`)

// ParseKubernetes reads 1.33, v1.30.14+ad5b1a0, v1.33.5-rke2r1. What follows
// the patch is dropped: OpenShift writes its commit there.
func ParseKubernetes(s string) (Kubernetes, error) {
	m := kubernetes.FindStringSubmatch(s)
	if m == nil {
		return Kubernetes{}, &Unreadable{printable.Clip(s), "a Kubernetes version is written v1.33.4"}
	}
	var k Kubernetes
	k.Major, _ = strconv.ParseUint(m[1], 10, 64)
	k.Minor, _ = strconv.ParseUint(m[2], 10, 64)
	k.Patch, _ = strconv.ParseUint(m[3], 10, 64) // 0 where there is none
	return k, nil
}

// Compare orders versions.
func (k Kubernetes) Compare(l Kubernetes) int {
	return cmp.Or(cmp.Compare(k.Major, l.Major), cmp.Compare(k.Minor, l.Minor), cmp.Compare(k.Patch, l.Patch))
}

// MinorString is "1.33".
func (k Kubernetes) MinorString() string { return fmt.Sprintf("%d.%d", k.Major, k.Minor) }

// String is major.minor.patch.
func (k Kubernetes) String() string { return fmt.Sprintf("%d.%d.%d", k.Major, k.Minor, k.Patch) }

// WMCO is a version of the Windows Machine Config Operator: 10.19.1, or with
// the commit that it writes into node annotations, 10.19.1-1a2b3c4.
type WMCO struct {
	Major, Minor, Patch uint64
	Commit              string
}

var wmco = regexp.MustCompile(`^v?([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,4})(?:[-+]([0-9a-f]{7,40})(?:-dirty)?)?$`)

// ParseWMCO reads the operator's version from a CSV, a Deployment or the
// annotation windowsmachineconfig.openshift.io/version.
func ParseWMCO(s string) (WMCO, error) {
	m := wmco.FindStringSubmatch(s)
	if m == nil {
		return WMCO{}, &Unreadable{printable.Clip(s), "WMCO's version is written 10.19.1 or 10.19.1-1a2b3c4"}
	}
	w := WMCO{Commit: m[4]}
	w.Major, _ = strconv.ParseUint(m[1], 10, 64)
	w.Minor, _ = strconv.ParseUint(m[2], 10, 64)
	w.Patch, _ = strconv.ParseUint(m[3], 10, 64)
	return w, nil
}

// Compare orders versions; the commit doesn't count.
func (w WMCO) Compare(x WMCO) int {
	return cmp.Or(cmp.Compare(w.Major, x.Major), cmp.Compare(w.Minor, x.Minor), cmp.Compare(w.Patch, x.Patch))
}

// String is the version with its commit, if it has one.
func (w WMCO) String() string {
	s := fmt.Sprintf("%d.%d.%d", w.Major, w.Minor, w.Patch)
	if w.Commit != "" {
		s += "-" + w.Commit
	}
	return s
}
