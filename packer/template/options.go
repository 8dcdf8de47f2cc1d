package template

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/packer/builder"
)

// Profile says what the image is for.
type Profile string

// The profiles.
const (
	// OpenShift is a node that the Windows Machine Config Operator (WMCO) sets
	// up: its files are seeded, csi-proxy alone is a service, and there is no
	// container runtime.
	OpenShift Profile = "openshift"
	// Generic is a node for kubeadm or an operator of another kind: kubelet,
	// containerd and CNI plugins come from the payload too.
	Generic Profile = "generic"
)

// Profiles lists them.
func Profiles() []Profile { return []Profile{OpenShift, Generic} }

// The releases of Windows Server that templates are for.
const (
	Windows2022 = "2022"
	Windows2025 = "2025"
)

// Releases lists them.
func Releases() []string { return []string{Windows2022, Windows2025} }

// Payload is the image that node files come from.
type Payload struct {
	// Reference is what the plugin opens: REGISTRY/REPOSITORY@sha256:..., or
	// the path of an OCI layout or tarball.
	Reference string
	// Digest is the image's, "sha256:...": what is built from is what was
	// looked at.
	Digest string
}

// Options decide a template folder.
type Options struct {
	// Platform is a name from Platforms.
	Platform string
	// Profile is OpenShift if empty.
	Profile Profile
	// Windows is Windows2022 if empty.
	Windows string
	// Payload becomes the default of the variables payload and
	// payload_digest. The zero value leaves both to the user who builds.
	Payload Payload
	// WithoutPayload leaves node files to what joins the node. Generic
	// images are nothing without them, so only OpenShift's take it.
	WithoutPayload bool
	// Release is the OpenShift release that the payload must be for, "4.20";
	// "" for any.
	Release string
	// CloudbaseInit has cloudbase-init name clones and run their user data, as
	// Cluster API gives it. Generic images alone take it.
	CloudbaseInit bool
	// ExtraScripts are the image team's own steps.
	ExtraScripts []ExtraScript
	// Dir is the folder that will be written: the payload's path and those in Values
	// are put into it relative to that. "" makes them absolute.
	Dir string
	// Values are those of var-files, from ReadValues; nil for none.
	Values *Values
}

var (
	digestForm  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	releaseForm = regexp.MustCompile(`^[4-9]\.[0-9]{1,2}$`)
)

// settle fills in defaults and refuses what there isn't. The error is a
// *fault.Error.
func (o Options) settle() (*render, error) {
	o.Profile = cmp.Or(o.Profile, OpenShift)
	o.Windows = cmp.Or(o.Windows, Windows2022)
	platform, err := Find(o.Platform)
	if err != nil {
		return nil, err
	}
	switch {
	case !slices.Contains(Profiles(), o.Profile):
		return nil, choice("profile", string(o.Profile), string(OpenShift), string(Generic))
	case !slices.Contains(Releases(), o.Windows):
		return nil, choice("windows", o.Windows, Releases()...)
	case o.Release != "" && !releaseForm.MatchString(o.Release):
		return nil, &fault.Error{What: fmt.Sprintf("--release can't be %q", o.Release), Fix: "give the OpenShift release, such as --release 4.20"}
	}
	return &render{Options: o, Builder: platform}, o.checkPayload()
}

func (o Options) checkPayload() error {
	switch {
	case o.WithoutPayload && o.Profile == Generic:
		return &fault.Error{What: "a generic node has no files without a payload", Fix: "give --payload REF@sha256:... or a layout, or take --profile openshift"}
	case o.WithoutPayload && o.Payload != (Payload{}):
		return &fault.Error{What: "a payload is given and refused at once", Fix: "leave one of them out"}
	case o.CloudbaseInit && o.Profile != Generic:
		return &fault.Error{What: "cloudbase-init is for Cluster API, and on OpenShift the operator sets nodes up", Fix: "take --profile generic, or leave --cloudbase-init out"}
	case o.Payload != (Payload{}) && !digestForm.MatchString(o.Payload.Digest):
		return &fault.Error{What: fmt.Sprintf("the payload %s has no digest", o.Payload.Reference), Fix: "name it by digest: REGISTRY/REPOSITORY@sha256:..."}
	}
	return nil
}

func choice(flag, value string, known ...string) error {
	return &fault.Error{What: fmt.Sprintf("--%s can't be %q", flag, value), Fix: "give one of " + strings.Join(known, ", ")}
}

// server is what differs between releases of Windows Server.
type server struct {
	Name     string // Windows Server 2022
	Floor    string // least build and patch level
	Image    string // name in install.wim of Server Core
	GuestID  string // vSphere's
	VirtIO   string // folder in virtio-win
	Azure    string // SKU
	AMI      string // name of Amazon's AMI
	Google   string // image family
	Hardware int    // vSphere's virtual hardware that knows the guest id
}

// Build is the number that the release is known by: 20348.
func (s server) Build() string {
	number, _, _ := strings.Cut(s.Floor, ".")
	return number
}

// KnownFrom is the virtual hardware from which on vSphere knows the guest id.
func (s server) KnownFrom() int {
	guest, _ := builder.GuestOf(s.GuestID)
	return guest.Hardware
}

// servers: the floor of 2022 is KB5012637, without which custom VXLAN ports
// don't work (windows-machine-config-operator docs/wmco-prerequisites.md); 2025
// has had it from its first build. The guest ids are one release behind their
// names: see the enumeration of
// https://github.com/vmware/govmomi/blob/main/vim25/types/enum.go.
var servers = map[string]server{
	Windows2022: {
		Name: "Windows Server 2022", Floor: "20348.681", Image: "Windows Server 2022 SERVERSTANDARDCORE",
		GuestID: "windows2019srvNext_64Guest", VirtIO: "2k22", Azure: "2022-datacenter-core-g2",
		AMI: "Windows_Server-2022-English-Core-Base-*", Google: "windows-2022-core", Hardware: 19,
	},
	Windows2025: {
		Name: "Windows Server 2025", Floor: "26100.1", Image: "Windows Server 2025 SERVERSTANDARDCORE",
		GuestID: "windows2022srvNext_64Guest", VirtIO: "2k25", Azure: "2025-datacenter-core-g2",
		AMI: "Windows_Server-2025-English-Core-Base-*", Google: "windows-2025-core", Hardware: 20,
	},
}

// Skeleton is a var-file to fill in: what has to be given, and what may be, at
// its default and commented out. Secrets are named alone: they belong into the
// environment.
func (f *Folder) Skeleton() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Values for %s. Delete what stays at its default.\n", f.Platform.Name)
	part := func(title string, keep func(Variable) bool, line string) {
		fmt.Fprintf(&b, "\n# %s\n", title)
		for _, v := range f.Variables {
			if keep(v) {
				fmt.Fprintf(&b, "\n# %s\n"+line+"\n", v.Description, v.Name, v.example())
			}
		}
	}
	part("Values to give", func(v Variable) bool { return v.Required() && !v.Sensitive }, "%s = %s")
	part("Secrets, in the environment", func(v Variable) bool { return v.Sensitive }, "# PKR_VAR_%s=%s")
	part("Values with a default", func(v Variable) bool { return !v.Required() && !v.Sensitive && !v.Rare }, "# %s = %s")
	part("Values that are seldom changed", func(v Variable) bool { return !v.Required() && !v.Sensitive && v.Rare }, "# %s = %s")
	return []byte(b.String())
}

// example is the variable's value in a skeleton.
func (v Variable) example() string {
	switch {
	case v.Sensitive:
		return "..."
	case v.Required():
		return map[string]string{"string": `""`, "list(string)": "[]"}[v.Type]
	}
	return v.Default
}
