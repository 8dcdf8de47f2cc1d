package version

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winbake/winbake/internal/base/printable"
)

// Driver is a driver's or csi-proxy's version, as its image tag, git describe
// or log line says it.
type Driver struct {
	Major, Minor, Patch uint64
	// Pre is the pre-release without its dash, "rc.2"; rc2 is read as rc.2.
	Pre string
	// After is how many commits the build is after that tag (git describe).
	After int
	// Commit is git describe's, "0939e7a".
	Commit string
	// Variant is a suffix that says how and not what was built: windows-hp,
	// eksbuild.1, fips.
	Variant string
	// written is the core as the tag has it where a number begins with a zero,
	// "26.06.0": without that zero it would be a tag that nobody published.
	written string
}

// Unreadable says why a tag isn't a version.
type Unreadable struct {
	Tag    string
	Reason string
}

func (e *Unreadable) Error() string { return fmt.Sprintf("%q is no version: %s", e.Tag, e.Reason) }

// bound is the highest number that a part of a version may be. The tags
// v999.0.1 and v999.1.0 are sentinels of GCE PD's repository, and a date such
// as v20260101 isn't a major version.
const bound = 998

// longest is more than any registry takes for a tag (128 characters).
const longest = 256

var (
	// core takes v1.2.3, 1.2 and what follows. A dot after the v is a typo that
	// was published: azuredisk-csi:v.2.0.0-beta.5.
	core = regexp.MustCompile(`^v?([0-9]+)\.([0-9]+)(?:\.([0-9]+))?(.*)$`)
	typo = regexp.MustCompile(`^v\.[0-9]`)
	// describe is what git describe appends: -28-g0939e7a, and -dirty.
	describe = regexp.MustCompile(`^-([0-9]+)-g([0-9a-f]{4,40})(?:-dirty)?$`)
	// pre takes -rc.2, -rc2, -beta.5, -alpha, -ec.1 and what follows.
	pre = regexp.MustCompile(`^-?(alpha|beta|rc|ec|fc|preview|dev)(?:[.-]?([0-9]+))?([.+_-].*)?$`)
	// variant lists the suffixes of which it is known that they name a build
	// and not a version. Another suffix is unreadable: it may mean anything.
	variant = regexp.MustCompile(`^[-_+]((?:[0-9]{1,2}-)?windows-hp|windows-hostprocess|hostprocess|windows[-a-z0-9.]*|nanoserver[-a-z0-9.]*|ltsc20[0-9]{2}|1809|20h2|linux[-a-z0-9.]*|amd64|arm64|eksbuild\.[0-9]+|eks-[0-9]+-[0-9]+-[0-9]+|fips(?:-[a-z0-9.]+)?|gke\.[0-9]+|distroless|debian[-a-z0-9.]*|al2023|al2|rke2r[0-9]+|hotfix\.[0-9]+|r[0-9]+|[0-9]{1,2}|build[0-9.]+|vmware\.[0-9]+)$`)
	// date takes 20260101, 20260101-v1.20.0, 202311021650.p0.
	date = regexp.MustCompile(`^v?(19|20)[0-9]{6}`)
	// openshiftBuild is a label of an OpenShift image: 4.14.0-202311021650.p0.
	openshiftBuild = regexp.MustCompile(`^-20[0-9]{10}`)
	// respin is a fourth number, of an image that was built again from the same
	// version: azuredisk-csi:v1.29.1.1-windows-hp.
	respin      = regexp.MustCompile(`^\.([0-9]{1,2})([-+_].*)?$`)
	hexadecimal = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	templated   = regexp.MustCompile(`\$\{|\{\{|\$\(|<[A-Za-z]`)
)

// ParseDriver reads a driver's tag or version. Its error is an *Unreadable,
// which says why: a tag that moves, a template, an absurd number. It guesses
// nothing: what isn't known to be harmless makes the tag unreadable.
func ParseDriver(tag string) (Driver, error) {
	no := func(reason string) (Driver, error) { return Driver{}, &Unreadable{printable.Clip(tag), reason} }
	if reason := notVersion(tag); reason != "" {
		return no(reason)
	}
	m := core.FindStringSubmatch(tag)
	if m == nil {
		return no("it isn't written major.minor.patch")
	}
	var d Driver
	for i, into := range []*uint64{&d.Major, &d.Minor, &d.Patch} {
		if m[i+1] == "" {
			continue
		}
		if len(m[i+1]) > 1 && m[i+1][0] == '0' {
			d.written = strings.TrimSuffix(strings.TrimPrefix(tag, "v"), m[4])
		}
		n, err := strconv.ParseUint(m[i+1], 10, 32)
		if err != nil || n > bound {
			return no("a number of it is absurdly high")
		}
		*into = n
	}
	if openshiftBuild.MatchString(m[4]) {
		return no("that is the build of an OpenShift image, not of a driver")
	}
	if reason := d.suffix(m[4]); reason != "" {
		return no(reason)
	}
	if d.IsZero() {
		return no("the build wasn't told its version")
	}
	return d, nil
}

// Floats tells whether a tag names a minor and no patch, "1.29": it is another
// patch's tomorrow.
func Floats(tag string) bool {
	m := core.FindStringSubmatch(tag)
	return m != nil && m[3] == "" && !strings.HasPrefix(m[4], ".")
}

// notVersion is why tag is no version at first sight, "" if it may be one.
func notVersion(tag string) string {
	switch lower := strings.ToLower(tag); {
	case tag == "":
		return "there is none"
	case len(tag) > longest:
		return "it is too long"
	case templated.MatchString(tag):
		return "it is a template that wasn't rendered"
	case moving(lower):
		return "it moves, and may be another version tomorrow"
	case lower == "unknown" || lower == "(devel)" || lower == "undefined":
		return "the build wasn't told its version"
	case typo.MatchString(tag):
		return "there is a dot after the v"
	case date.MatchString(tag):
		return "it is a date"
	case hexadecimal.MatchString(lower):
		return "it is a commit"
	}
	return ""
}

func moving(tag string) bool {
	for _, name := range []string{"latest", "canary", "master", "main", "nightly", "edge", "stable", "head", "dev"} {
		if tag == name || strings.HasPrefix(tag, name+"-") {
			return true
		}
	}
	return false
}

// suffix reads what follows the core and returns why it can't be read.
func (d *Driver) suffix(s string) string {
	if m := describe.FindStringSubmatch(s); m != nil {
		d.After, _ = strconv.Atoi(m[1])
		d.Commit = m[2]
		return ""
	}
	if m := pre.FindStringSubmatch(s); m != nil {
		d.Pre = m[1]
		if m[2] != "" {
			d.Pre += "." + strings.TrimLeft(m[2][:len(m[2])-1], "0") + m[2][len(m[2])-1:]
		}
		if s = m[3]; s != "" {
			return d.suffix(s)
		}
		return ""
	}
	if m := respin.FindStringSubmatch(s); m != nil {
		s = "-" + m[1] + m[2]
	}
	// Build metadata says nothing of the version: semver.org, point 10.
	s, _, _ = strings.Cut(s, "+")
	if s == "" {
		return ""
	}
	m := variant.FindStringSubmatch(strings.ToLower(s))
	if m == nil {
		return fmt.Sprintf("nothing is known of the suffix %s", printable.Clip(s))
	}
	d.Variant = m[1]
	return ""
}

// MustDriver is ParseDriver for constants; it panics.
func MustDriver(s string) Driver {
	d, err := ParseDriver(s)
	if err != nil {
		panic(err)
	}
	return d
}

// Compare orders by core, then pre-release, then distance from the tag. The
// variant never counts: v1.29.2-windows-hp equals v1.29.2.
func (d Driver) Compare(o Driver) int {
	return cmp.Or(d.compareCore(o), d.semver().Compare(o.semver()), cmp.Compare(d.After, o.After))
}

func (d Driver) compareCore(o Driver) int {
	return cmp.Or(cmp.Compare(d.Major, o.Major), cmp.Compare(d.Minor, o.Minor), cmp.Compare(d.Patch, o.Patch))
}

func (d Driver) semver() *semver.Version { return semver.New(d.Major, d.Minor, d.Patch, d.Pre, "") }

// SameMinor tells whether major and minor are equal.
func (d Driver) SameMinor(o Driver) bool { return d.Major == o.Major && d.Minor == o.Minor }

// IsZero tells whether d is the zero value, which is no version.
func (d Driver) IsZero() bool {
	d.written = ""
	return d == Driver{}
}

// Core is major.minor.patch, or what the tag has in their place where it writes
// leading zeros: 26.06.0.
func (d Driver) Core() string {
	if d.written != "" {
		return d.written
	}
	return fmt.Sprintf("%d.%d.%d", d.Major, d.Minor, d.Patch)
}

// String is the version without a v, in the order that ParseDriver reads.
func (d Driver) String() string {
	if d.IsZero() {
		return ""
	}
	s := d.Core()
	if d.Pre != "" {
		s += "-" + d.Pre
	}
	if d.Commit != "" {
		s += fmt.Sprintf("-%d-g%s", d.After, d.Commit)
	}
	if d.Variant != "" {
		s += "-" + d.Variant
	}
	return s
}

// MarshalText writes String.
func (d Driver) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote; an empty text is the zero value.
func (d *Driver) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Driver{}
		return nil
	}
	v, err := ParseDriver(string(text))
	*d = v
	return err
}

// Range is a set of versions, such as ">=1.28.0 <1.33.0".
type Range struct{ ranks *semver.Constraints }

// ParseRange reads a constraint as Masterminds/semver does.
func ParseRange(s string) (Range, error) {
	c, err := semver.NewConstraint(s)
	if err != nil {
		return Range{}, fmt.Errorf("read the version range %q: %w", s, err)
	}
	return Range{c}, nil
}

// Contains compares d's core alone: OpenShift's forks carry the last rc of a
// release and not its final tag, and the two differ by a manifest
// (openshift/vmware-vsphere-csi-driver, v3.5.0-rc.3).
func (r Range) Contains(d Driver) bool {
	return r.ranks != nil && r.ranks.Check(semver.New(d.Major, d.Minor, d.Patch, "", ""))
}

// Calendar tells whether d and o are calendar versions, year and month, as
// NetApp Trident's are (25.02.1, 25.10.0). A month with a leading zero proves
// it, and one of the two is enough; 25.4.0 alone may count anything.
func (d Driver) Calendar(o Driver) bool {
	return d.yearMonth() && o.yearMonth() && (d.paddedMonth() || o.paddedMonth())
}

func (d Driver) yearMonth() bool {
	return d.Major >= 15 && d.Major < 100 && d.Minor >= 1 && d.Minor <= 12
}

func (d Driver) paddedMonth() bool {
	_, rest, _ := strings.Cut(d.written, ".")
	return strings.HasPrefix(rest, "0")
}

// OtherMajor tells whether a major version lies between d and o. Between
// calendar versions there is none: the first number is the year.
func (d Driver) OtherMajor(o Driver) bool { return d.Major != o.Major && !d.Calendar(o) }

// Distance is d minus o in minors, or in months where they are calendar
// versions. It means something where OtherMajor is false.
func (d Driver) Distance(o Driver) int {
	n := int(d.Minor) - int(o.Minor)
	if d.Calendar(o) {
		n += 12 * (int(d.Major) - int(o.Major))
	}
	return n
}
