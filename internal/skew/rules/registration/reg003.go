package registration

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var (
	// oldestRegistrar is the first node-driver-registrar for Windows.
	oldestRegistrar = version.Driver{Major: 1, Minor: 3}
	// probingRegistrar is the first that has a mode for liveness probes.
	probingRegistrar = version.Driver{Major: 2, Minor: 3}
)

// probeMode is what a liveness probe that runs the registrar must say.
const probeMode = "kubelet-registration-probe"

// oldRegistrar is REG003: a node-driver-registrar from before Windows, or a
// liveness probe that it can't answer.
func oldRegistrar(v *snapshot.View, report rules.Report) {
	r := v.DaemonSet.Registrar
	if r == nil || v.FollowsLinux() {
		return // REG001 sees what matters: whether the driver is registered
	}
	probe, ill := registrarProbe(v.DaemonSet, r)
	if ill {
		report(probe)
	}
	// What fixes the probe raises a registrar that is too old as well.
	if !r.Version.Known || !ill && r.Version.Version.Compare(oldestRegistrar) < 0 {
		report(registrarAge(v.DaemonSet, r))
	}
}

func registrarAge(d *inventory.Driver, r *inventory.Sidecar) rules.Finding {
	f := rules.Finding{
		Case: "old registrar", Facts: rules.Facts{"registrar": r, "oldest": oldestRegistrar, "probing": probingRegistrar, "probes": probesRegistration(r)},
		Evidence: []inventory.Evidence{r.Version.At}, Do: setRegistrar(d, r, oldestRegistrar),
	}
	if !r.Version.Known {
		f.Case, f.Do = "unknown registrar", nil
	}
	return f
}

// registrarImage is where Kubernetes publishes the registrar.
const registrarImage = "registry.k8s.io/sig-storage/csi-node-driver-registrar"

// setRegistrar raises the registrar to a version, from the mirror that the
// present one comes from.
func setRegistrar(d *inventory.Driver, r *inventory.Sidecar, v version.Driver) []action.Action {
	set := action.SetImage{Object: d.Object, Provisioner: d.Provisioner, Container: r.Container, Was: r.Image.Reference, Image: fmt.Sprintf("%s:v%s", registrarImage, v), Strategy: d.Strategy, To: v, Registrar: true}
	if r.Image.Repository != "" && !catalog.OfVendor(r.Image.Repository) {
		set.From, set.Image = set.Image, fmt.Sprintf("%s:v%s", r.Image.Repository, v)
	}
	return []action.Action{set}
}

// probesRegistration tells whether the registrar's liveness probe runs the
// registrar itself.
func probesRegistration(r *inventory.Sidecar) bool {
	return len(r.Probe) > 0 && strings.Contains(path.Base(strings.ReplaceAll(r.Probe[0], `\`, "/")), "driver-registrar")
}

// registrarProbe judges a liveness probe that runs the registrar. That there
// is none is as good: the probe is optional.
func registrarProbe(d *inventory.Driver, r *inventory.Sidecar) (rules.Finding, bool) {
	if !probesRegistration(r) {
		return rules.Finding{}, false
	}
	f := rules.Finding{
		Facts:    rules.Facts{"registrar": r, "mode": probeMode, "probing": probingRegistrar},
		Evidence: []inventory.Evidence{{Where: r.Version.At.Where, Text: "livenessProbe: " + strings.Join(r.Probe, " ")}},
	}
	old := r.Version.Known && r.Version.Version.Compare(probingRegistrar) < 0
	if old {
		f.Do = setRegistrar(d, r, probingRegistrar)
	}
	switch mode := slices.ContainsFunc(r.Probe, func(arg string) bool { return strings.Contains(arg, probeMode) }); {
	case !mode && old:
		f.Case = "old registrar without the mode"
	case !mode:
		f.Case = "probe without the mode"
	case old:
		f.Case = "registrar lacks the mode"
	default:
		return rules.Finding{}, false
	}
	return f, true
}

var reg003 = rules.Rule{ID: "REG003", Needs: rules.NeedsDrivers, Driver: oldRegistrar, Starts: true, At: rules.AtNow}
