package wanted

import (
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Built is one component as it was built.
type Built struct {
	Component *pins.Component
	// Stamps are the variables that were set, with their values.
	Stamps map[string]string
	// SHA256 is lower-case hex, Size in bytes.
	SHA256 string
	Size   int64
	// Unsigned is the sum before the program was signed; "" where it isn't.
	Unsigned string
}

// Expectation is what a node with a payload of these components should be, and
// nil when the file declares no services: then the image says nothing of
// nodes. What only WMCO can set up isn't in it: its command line is known on
// the node alone.
func Expectation(file *pins.File, built []Built, warn func(service, what string)) (*node.Expectation, error) {
	if len(file.Services) == 0 {
		return nil, nil
	}
	e := &node.Expectation{APIVersion: node.APIVersion, Release: file.Release, Files: []node.File{}, Services: []node.Service{}}
	versions := map[string]string{}
	for _, b := range built {
		c := b.Component
		versions[c.Name] = b.Stamps["main.version"]
		if c.Install == "" {
			continue
		}
		e.Files = append(e.Files, node.File{Component: c.Name, Path: c.Install, Payload: c.Payload,
			SHA256: b.SHA256, Size: b.Size, Version: stampedVersion(b.Stamps), Unsigned: b.Unsigned})
	}
	services, err := Services(file, warn)
	if err != nil {
		return nil, err
	}
	for _, s := range services {
		if _, built := versions[s.Component]; s.Standalone() && (built || s.Component == "") {
			e.Services = append(e.Services, service(s, versions[s.Component]))
		}
	}
	return e, nil
}

func service(s winsvc.Service, version string) node.Service {
	one := node.Service{Service: s}
	if s.IsCSIProxy() {
		one.Log, one.Version = logFile(s.Arguments), version
		if len(s.Pipes) == 0 {
			// The catalog doesn't know it. Every csi-proxy since v1.0.0 serves these
			// (https://github.com/kubernetes-csi/csi-proxy/tree/v1.0.0/client/api).
			one.Pipes = winsvc.CSIProxy("disk-v1", "filesystem-v1", "smb-v1", "volume-v1").Pipes
		}
	}
	return one
}

// stampedVersion is the stamp that holds a program's version, by the names
// that such variables have.
func stampedVersion(stamps map[string]string) string {
	for _, name := range []string{"main.version", "k8s.io/component-base/version.gitVersion", "main.gitVersion"} {
		if v := stamps[name]; v != "" {
			return v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stamps)) {
		for _, end := range []string{"/version.Version", "/version.gitVersion", ".BuildVersion"} {
			if strings.HasSuffix(name, end) && !strings.HasPrefix(name, "k8s.io/client-go/") {
				return stamps[name]
			}
		}
	}
	return ""
}

// logFile is klog's -log_file, "" for none.
func logFile(args []string) string {
	for _, a := range args {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "log_file="); ok && strings.HasPrefix(a, "-") {
			return rest
		}
	}
	return ""
}
