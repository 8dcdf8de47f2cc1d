package imagecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
)

// The profiles, as package template has them.
const (
	OpenShift = "openshift" // nodes that the Windows Machine Config Operator sets up
	Generic   = "generic"   // nodes that kubeadm or another operator sets up
)

// Profiles lists them.
var Profiles = []string{OpenShift, Generic}

// Windows is what is asked. An error that is fs.ErrNotExist says that the thing
// isn't there, and any other that there is no answer.
type Windows interface {
	// Value is a value of the registry: a number in decimal, several strings as lines.
	Value(key, name string) (string, error)
	// Values are all values of a key, without their names.
	Values(key string) ([]string, error)
	// Keys are the names of a key's subkeys.
	Keys(key string) ([]string, error)
	Service(name string) (Service, error)
	Read(path string) ([]byte, error)
	// Glob lists the files that a pattern of filepath.Match names.
	Glob(pattern string) ([]string, error)
	// Security is a file's owner and access list, in SDDL.
	Security(path string) (string, error)
	// Users are the enabled local users that Windows didn't bring.
	Users() ([]string, error)
	// WinHTTPProxy is the machine's proxy of WinHTTP, "" for none.
	WinHTTPProxy() (string, error)
	// Serial is the serial number of the first disk, "" for none.
	Serial() (string, error)
	// Run runs a program and returns what it writes.
	Run(program string, args ...string) (string, error)
}

// Service is what the service manager says of a service.
type Service struct {
	Start   string `yaml:"start"` // automatic, delayed, manual, disabled
	State   string `yaml:"state"` // running, stopped, ...
	Command string `yaml:"command"`
}

// Row is one check.
type Row struct {
	ID     string // in findings, and for --accept
	Object string // what is looked at
	// OpenShift and Generic say how bad a wrong answer is for the profile. A profile
	// whose severity is zero isn't asked.
	OpenShift, Generic finding.Severity
	// On is how the manufacturer of the machines begins that the row is for; "" for all.
	On string
	// Later: on a cloud, user data or the platform's agent may do it after the check.
	// There a wrong answer is one step less severe.
	Later bool
	// Ask asks Windows, and judges the answer.
	Ask question
	// Expected is the right answer, Why what goes wrong with another, Fix what puts it
	// right, Source where that is written.
	Expected, Why, Fix, Source string
}

// Answer is what Windows said, in words.
type Answer struct {
	Observed string
	Wrong    bool
}

func right(format string, args ...any) Answer {
	return Answer{Observed: fmt.Sprintf(format, args...)}
}

func wrong(format string, args ...any) Answer {
	return Answer{Observed: fmt.Sprintf(format, args...), Wrong: true}
}

// severity is how bad a wrong answer is; Pass where the profile doesn't ask.
func (r Row) severity(profile, maker string) finding.Severity {
	s := r.OpenShift
	if profile == Generic {
		s = r.Generic
	}
	switch {
	case !r.Later || !isCloud(maker):
		return s
	case s == finding.Block:
		return finding.Warn
	case s == finding.Warn:
		return finding.Info
	}
	return s
}

// manufacturer is who made the machine, or the platform that it is virtual on.
func manufacturer(w Windows) (string, error) {
	return w.Value(`HKLM\HARDWARE\DESCRIPTION\System\BIOS`, "SystemManufacturer")
}

// The manufacturers that platforms give their machines.
const (
	vmware  = "VMware"
	amazon  = "Amazon EC2"
	azure   = "Microsoft Corporation" // Hyper-V too
	google  = "Google"
	nutanix = "Nutanix"
)

// isCloud: machines there get user data at their first boot.
func isCloud(maker string) bool {
	return slices.ContainsFunc([]string{amazon, azure, google, nutanix}, func(c string) bool { return strings.HasPrefix(maker, c) })
}
