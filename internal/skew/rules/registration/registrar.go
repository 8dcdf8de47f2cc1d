package registration

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

var (
	// oldestRegistrar is the first node-driver-registrar for Windows.
	oldestRegistrar = version.Driver{Major: 1, Minor: 3}
	// probingRegistrar is the first that has a mode for liveness probes.
	probingRegistrar = version.Driver{Major: 2, Minor: 3}
)

// probeMode is what a liveness probe that runs the registrar must say.
const probeMode = "kubelet-registration-probe"

const registrarProbes = "https://github.com/kubernetes-csi/node-driver-registrar/blob/v2.3.0/README.md"

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
	f := rules.Finding{Severity: finding.Warn, When: rules.Before}
	f.Observed = fmt.Sprintf("container %s: node-driver-registrar %s", r.Container, r.Version.Version)
	f.Do = setRegistrar(d, r, oldestRegistrar)
	if !r.Version.Known {
		f.Severity = finding.Unknown
		f.Observed = fmt.Sprintf("container %s: the version of %s isn't known: %s", r.Container, r.Image.Reference, cmp.Or(r.Version.Reason, "no version seen"))
		f.Do = nil
		f.Remedy = fmt.Sprintf("name a version in the image of container %s, or tell the one behind it: --image-version '%s=vX.Y.Z'", r.Container, r.Image.Reference)
	}
	f.Expected = "node-driver-registrar " + oldestRegistrar.String() + " or newer"
	f.Why = "older ones weren't made for Windows"
	if probesRegistration(r) {
		f.Expected = "node-driver-registrar " + probingRegistrar.String() + " or newer, for its liveness probe"
		f.Why += ", and older ones than that don't know the probe's mode"
	}
	f.Evidence = []inventory.Evidence{r.Version.At}
	return f
}

// registrarImage is where Kubernetes publishes the registrar, and registrarHosts
// where it or a project that deploys it did.
const registrarImage = "registry.k8s.io/sig-storage/csi-node-driver-registrar"

var registrarHosts = []string{"registry.k8s.io", "k8s.gcr.io", "quay.io", "gcr.io", "mcr.microsoft.com", "public.ecr.aws"}

// setRegistrar raises the registrar to a version, from the mirror that the
// present one comes from.
func setRegistrar(d *inventory.Driver, r *inventory.Sidecar, v version.Driver) []action.Action {
	set := action.SetImage{Object: d.Object, Container: r.Container, Was: r.Image.Reference, Image: fmt.Sprintf("%s:v%s", registrarImage, v), Strategy: d.Strategy, To: v, Registrar: true}
	if host, _, _ := strings.Cut(r.Image.Repository, "/"); r.Image.Repository != "" && !slices.Contains(registrarHosts, host) {
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
	old := r.Version.Known && r.Version.Version.Compare(probingRegistrar) < 0
	f := rules.Finding{Severity: finding.Warn, Same: "probe", When: rules.Before, Later: true, Source: registrarProbes}
	f.Expected = "a probe with --mode=" + probeMode + ", of node-driver-registrar " + probingRegistrar.String() + " or newer"
	f.Evidence = []inventory.Evidence{{Where: r.Version.At.Where, Text: "livenessProbe: " + strings.Join(r.Probe, " ")}}
	switch {
	case !slices.ContainsFunc(r.Probe, func(arg string) bool { return strings.Contains(arg, probeMode) }):
		f.Observed = fmt.Sprintf("the liveness probe of container %s runs the registrar without --mode=%s", r.Container, probeMode)
		f.Why = "without the mode the probe starts a second registrar instead of asking whether the first one registered"
		f.Remedy = fmt.Sprintf("in %s add --mode=%s to the command of that livenessProbe, beside its --kubelet-registration-path, or take the probe out", d.Object, probeMode)
		if old {
			f.Observed += fmt.Sprintf(", and is %s", r.Version.Version)
			f.Do = setRegistrar(d, r, probingRegistrar)
		}
	case old:
		f.Observed = fmt.Sprintf("the liveness probe of container %s asks for --mode=%s, which node-driver-registrar %s lacks", r.Container, probeMode, r.Version.Version)
		f.Why = "the registrar ends at a flag that it doesn't know, so the probe fails and the kubelet restarts the container again and again"
		f.Do = setRegistrar(d, r, probingRegistrar)
	default:
		return rules.Finding{}, false
	}
	return f, true
}
