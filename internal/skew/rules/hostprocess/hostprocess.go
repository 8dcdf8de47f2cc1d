// Package hostprocess holds the rules on how a driver's container reaches the
// node (HP).
package hostprocess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "HP001", Needs: rules.NeedsDrivers, Driver: hostProcessRequired, Lacks: true},
	{ID: "HP002", Needs: rules.NeedsDrivers, Driver: hostProcessPipes, Starts: true},
	{ID: "HP003", Needs: rules.NeedsDrivers, Driver: hostProcessFlag, Lacks: true, Starts: true},
	{ID: "HP004", Needs: rules.NeedsDrivers, Driver: hostProcessImage, Lacks: true, Starts: true},
	{ID: "HP005", Needs: rules.NeedsDrivers, Driver: hostProcessCrossing},
}

func hostProcessRequired(v *snapshot.View, report rules.Report) {
	first := v.LineWith((*catalog.Line).HostProcessOnly)
	windows, known := v.Windows()
	if v.DaemonSet.HostProcess || v.FollowsLinux() || first == nil || !known && v.DaemonSet.Container == "" {
		return // SKEW005 asks for the container that runs the driver
	}
	d := rules.Finding{
		Case: "required", Facts: rules.Facts{"windows": windows, "first": first.From, "pipes": len(v.DaemonSet.Pipes)},
		Evidence: slices.Concat(v.Evidence(), pipeEvidence(v.DaemonSet)),
	}
	switch {
	case !known:
		d.Case = "maybe required"
	case !v.Line.HostProcessOnly():
		return
	default:
		d.Do = remedy.Change(v, windows)
		if back, ok := downgrade(v); ok {
			d.Or = fmt.Sprintf("; or go back to v%s, the version that Linux has now, which runs in the present pod", back.Core())
		}
	}
	report(d)
}

// NeedsHostProcess tells whether HP001 reports the driver.
func NeedsHostProcess(v *snapshot.View) bool {
	return !v.DaemonSet.HostProcess && !v.FollowsLinux() && v.Line.HostProcessOnly()
}

// downgrade is the version that Linux has now, where the present pod can run that
// one.
func downgrade(v *snapshot.View) (version.Driver, bool) {
	linux, certain := v.LinuxNow.Certain()
	line := (*catalog.Line)(nil)
	if certain {
		line = v.Catalog.Line(linux)
	}
	return linux, line != nil && !v.Planned && remedy.NewManifest(v.DaemonSet, line, false) == ""
}

func pipeEvidence(d *inventory.Driver) []inventory.Evidence {
	return snapshot.Map(d.Pipes, func(p inventory.Pipe) inventory.Evidence { return p.At })
}

func hostProcessPipes(v *snapshot.View, report rules.Report) {
	mounts, at := mountedPipes(v.DaemonSet)
	if !v.DaemonSet.HostProcess || mounts == "" {
		return
	}
	report(rules.Finding{Case: "mounts pipes", Facts: rules.Facts{"mounts": mounts}, Do: withoutPipes(v), Evidence: at})
}

// mountedPipes names the pipes that any container of the pod mounts, wherever
// to: all of a HostProcess pod's containers are such containers.
func mountedPipes(d *inventory.Driver) (string, []inventory.Evidence) {
	names := snapshot.Map(d.Pipes, inventory.Pipe.Name)
	at := pipeEvidence(d)
	for _, p := range d.Unmounted {
		if p.Container != "" {
			names = append(names, fmt.Sprintf("%s (in %s)", p.Name(), p.Container))
			at = append(at, p.At)
		}
	}
	return strings.Join(names, ", "), at
}

// withoutPipes leads to a pod that mounts none: the DaemonSet of its version
// where bake writes it, which is sure to have nothing else left over.
func withoutPipes(v *snapshot.View) []action.Action {
	windows, known := v.Windows()
	if _, ok := remedy.Bakes(v, windows, true); known && ok {
		return remedy.Replacement(v, windows, true, "")
	}
	return []action.Action{action.ByHand{Text: fmt.Sprintf("remove the hostPath volumes csi-proxy-* and their mounts from %s", v.DaemonSet.Object), Object: v.DaemonSet.Object.String()}}
}

func hostProcessFlag(v *snapshot.View, report rules.Report) {
	given := v.DaemonSet.HostProcessFlag
	set := given != nil && *given
	flag, since := "", ""
	if flagged := v.LineWith(func(l *catalog.Line) bool { return l.Flag != "" }); flagged != nil {
		flag, since = flagged.Flag, flagged.From
	}
	d := rules.Finding{Facts: rules.Facts{"flag": flag, "since": since}, Evidence: slices.Concat(v.Evidence(), v.DaemonSet.Evidence)}
	container, object := remedy.Container(v.DaemonSet), v.DaemonSet.Object
	yes := true
	switch {
	case v.FollowsLinux():
		return
	case len(v.DaemonSet.ForeignFlags) > 0:
		foreignFlag(v, &d)
	case flag == "":
		return
	case v.DaemonSet.HostProcessFlagReason != "" && v.Line != nil && v.Line.Flag == "":
		d.Case, d.Do = "unread and not known", edit(v, nil, action.Flags{Drop: []string{flag}}, "remove the argument from container %s of %s", container, object)
	case v.DaemonSet.HostProcessFlagReason != "":
		value := fmt.Sprintf("%s=%t", flag, v.DaemonSet.HostProcess)
		d.Case, d.Facts["value"] = "unread", value
		d.Do = edit(v, &v.DaemonSet.HostProcess, action.Flags{Drop: []string{flag}, Give: value}, "write the value itself into the arguments of container %s of %s", container, object)
	case set && !v.DaemonSet.HostProcess:
		d.Case, d.Do = "with another pod", edit(v, nil, action.Flags{Drop: []string{flag}}, "remove %s from %s, or apply the project's HostProcess manifest whole", flag, object)
	case given != nil && v.Line != nil && v.Line.Flag == "":
		d.Case, d.Do = "not known", edit(v, nil, action.Flags{Drop: []string{flag}}, "remove %s from %s, or deploy a version from %s on", flag, object, since)
	case !v.DaemonSet.HostProcess || set && v.Line != nil:
		return
	case v.Line == nil:
		d.Case, d.Facts["key"] = "unknown version", rules.ImageKey(v)
	case v.Line.Flag != "":
		d.Case = "missing"
		d.Do = edit(v, &yes, action.Flags{Drop: []string{flag}, Give: flag + "=true"}, "add %s=true to the arguments of container %s of %s", flag, container, object)
	default:
		return
	}
	report(d)
}

// foreignFlag tells of a flag for HostProcess that only other drivers have.
func foreignFlag(v *snapshot.View, d *rules.Finding) {
	flags, given := strings.Join(v.DaemonSet.ForeignFlags, " and "), true
	d.Case, d.Facts["flags"] = "another driver's", flags
	d.Do = edit(v, v.DaemonSet.HostProcessFlag, action.Flags{Drop: v.DaemonSet.ForeignFlags}, "remove %s from %s", flags, v.DaemonSet.Object)
	lacks := v.DaemonSet.HostProcess && v.Line != nil && (v.DaemonSet.HostProcessFlag == nil || !*v.DaemonSet.HostProcessFlag)
	if lacks && v.Line.Flag != "" {
		own := v.Line.Flag + "=true"
		d.Expected = own
		d.Do = edit(v, &given, action.Flags{Drop: append(slices.Clone(v.DaemonSet.ForeignFlags), v.Line.Flag), Give: own}, "give container %s of %s %s instead of %s", remedy.Container(v.DaemonSet), v.DaemonSet.Object, own, flags)
	}
}

func hostProcessImage(v *snapshot.View, report rules.Report) {
	if v.DaemonSet.HostProcess && v.Line != nil && v.Line.HostProcess == catalog.HostProcessNone {
		windows, _ := v.Windows()
		place, _ := remedy.ManifestOf(v.Catalog, false, windows)
		report(rules.Finding{Case: "unsupported", Facts: rules.Facts{"windows": windows, "place": place}, Evidence: v.Evidence()})
		return
	}
	suffixed := v.LineWith(func(l *catalog.Line) bool { return l.ImageSuffix != "" })
	if suffixed == nil || v.DaemonSet.Image.Tag == "" || v.FollowsLinux() {
		return
	}
	windows, _ := v.Windows()
	suffix, tag := "-"+suffixed.ImageSuffix, v.DaemonSet.Image.Tag
	d := rules.Finding{Facts: rules.Facts{"tag": tag}, Evidence: v.Evidence()}
	switch has := strings.HasSuffix(tag, suffix); {
	case has && !v.DaemonSet.HostProcess:
		d.Case, d.Expected = "image of another pod", strings.TrimSuffix(tag, suffix)
	case !has && v.DaemonSet.HostProcess && v.Line != nil && v.Line.ImageSuffix != "":
		d.Case, d.Expected = "plain image", tag+suffix
	default:
		return
	}
	d.Do = remedy.Retag(v, v.DaemonSet.HostProcess, windows, d.Expected)
	report(d)
}

// edit changes the driver's arguments; given is what its HostProcess flag is then.
func edit(v *snapshot.View, given *bool, flags action.Flags, format string, args ...any) []action.Action {
	becomes := *v.DaemonSet
	becomes.HostProcessFlag, becomes.HostProcessFlagReason, becomes.ForeignFlags = given, "", nil
	flags.Container, flags.Call = v.DaemonSet.Container, v.DaemonSet.Call
	text := fmt.Sprintf(format, args...)
	if remedy.InFile(v) || !flags.Known() {
		return []action.Action{action.ByHand{Text: text, Object: v.DaemonSet.Object.String(), Becomes: &becomes}}
	}
	return []action.Action{action.EditDriver{Object: v.DaemonSet.Object, Text: text, Flags: &flags, Strategy: v.DaemonSet.Strategy, Becomes: &becomes}}
}

// Ahead is what HostProcess is to the Linux side's line, where a driver with
// pipes is to follow it there: mandatory, default, or "".
func Ahead(v *snapshot.View) catalog.HostProcess {
	if v.DaemonSet.HostProcess || len(v.DaemonSet.Pipes) == 0 || v.Catalog == nil || v.FollowsLinux() || v.OperatorTakesOver() || v.Line.HostProcessOnly() {
		return ""
	}
	must := strictest(v, v.Linux())
	if must == catalog.HostProcessMandatory || must == catalog.HostProcessDefault && v.At.Phase != snapshot.Now && strictest(v, &v.LinuxNow) != must {
		return must
	}
	return ""
}

func hostProcessCrossing(v *snapshot.View, report rules.Report) {
	l, must := v.Linux(), Ahead(v)
	if must == "" {
		return
	}
	d := rules.Finding{Case: "crossing", Facts: rules.Facts{"linux": l, "must": must, "pipes": len(v.DaemonSet.Pipes)}, Evidence: slices.Concat(pipeEvidence(v.DaemonSet), l.Evidence())}
	to := remedy.FitVersion(v, v.DaemonSet, l.Newest())
	d.Do = remedy.ChangeAfter(v, to)
	prepared := v.At.PlannedFor(v.DaemonSet)
	if must == catalog.HostProcessDefault || len(prepared) > 0 && !slices.ContainsFunc(prepared, func(p *inventory.Driver) bool { return !p.HostProcess }) {
		d.Severity, d.PlanInfo = finding.Info, v.At.Hops > 0
	}
	if must == catalog.HostProcessDefault && v.At.PlannedFor(v.DaemonSet) == nil {
		d.Remedy = fmt.Sprintf("nothing has to be done: with v%s the present pod goes on working with csi-proxy, and the project deploys it as a HostProcess container", to.Core())
	}
	if v.HasRival() {
		d.Remedy, d.Do, d.NoStep = rules.SettleFirst, nil, true
	}
	if line := v.Catalog.Line(l.Newest()); line != nil && len(line.Evidence) > 0 {
		d.Source = line.Evidence[0].Source
	}
	report(d)
}

// strictest is what HostProcess is to the strictest line that the Linux side's
// version may be of.
func strictest(v *snapshot.View, l *snapshot.Linux) catalog.HostProcess {
	order := []catalog.HostProcess{"", catalog.HostProcessNone, catalog.HostProcessOptional, catalog.HostProcessDefault, catalog.HostProcessMandatory}
	worst := 0
	for _, c := range l.Candidates {
		if line := v.Catalog.Line(c.Version); line != nil {
			worst = max(worst, slices.Index(order, line.HostProcess))
		}
	}
	return order[worst]
}
