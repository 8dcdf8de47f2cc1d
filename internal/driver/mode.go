package driver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/version"
)

// HostProcess settles on a mode. Auto takes the one that the driver's project deploys
// at that version, as bake manifests csi-driver does. A sidecar runs in both: there
// the bases decide.
func (s *Source) HostProcess(cat *catalog.Catalog, mode csidriver.Mode, bases []*Base) (bool, error) {
	if !slices.Contains(csidriver.Modes(), string(mode)) {
		return false, &fault.Error{What: fmt.Sprintf("--mode can't be %q", mode), Fix: "--mode, one of " + strings.Join(csidriver.Modes(), ", ")}
	}
	d := cat.Driver(s.Build.Name)
	if d == nil {
		return mode == csidriver.HostProcess || mode == csidriver.Auto && slices.ContainsFunc(bases, func(b *Base) bool { return b.Build == 0 }), nil
	}
	v, err := version.ParseDriver(s.Pin.Version)
	if err != nil {
		return false, &fault.Error{Where: s.Build.Name, What: "version: " + err.Error(), Fix: "write upstream's version beside its commit", Err: err}
	}
	line := d.Line(v)
	switch {
	case mode == csidriver.Pipes && line.HostProcessOnly():
		return false, &fault.Error{Where: s.Build.Name, What: fmt.Sprintf("%s v%s speaks to no csi-proxy: it runs in HostProcess containers alone", d.Title, v.Core()), Fix: "--mode hostprocess"}
	case mode == csidriver.HostProcess && !line.CanHostProcess():
		return false, &fault.Error{Where: s.Build.Name, What: fmt.Sprintf("%s v%s can't run in a HostProcess container", d.Title, v.Core()), Fix: "--mode pipes"}
	}
	usual := line != nil && (line.HostProcess == catalog.HostProcessDefault || line.HostProcess == catalog.HostProcessMandatory)
	return mode == csidriver.HostProcess || mode == csidriver.Auto && usual, nil
}

// ModeName is the word for a mode.
func ModeName(hostProcess bool) string {
	if hostProcess {
		return string(csidriver.HostProcess)
	}
	return string(csidriver.Pipes)
}
