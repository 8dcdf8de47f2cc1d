// Package hostprocess holds the rules on how a driver's container reaches the
// node (HP).
package hostprocess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "HP001", Needs: rules.NeedsDrivers, Driver: hostProcessRequired, Lacks: true},
	{ID: "HP002", Needs: rules.NeedsDrivers, Driver: hostProcessPipes, Starts: true},
	{ID: "HP003", Needs: rules.NeedsDrivers, Driver: hostProcessFlag, Lacks: true, Starts: true},
	{ID: "HP004", Needs: rules.NeedsDrivers, Driver: hostProcessImage, Lacks: true, Starts: true},
	{ID: "HP005", Needs: rules.NeedsDrivers, Driver: hostProcessCrossing},
}

// hostProcessRequired is HP001.
func hostProcessRequired(v *snapshot.View, report rules.Report) {
	first := v.LineWith((*catalog.Line).HostProcessOnly)
	windows, known := v.Windows()
	if v.DaemonSet.HostProcess || v.FollowsLinux() || first == nil || !known && v.DaemonSet.Container == "" {
		return // SKEW005 asks for the container that runs the driver
	}
	d := rules.Finding{
		Severity: finding.Block,
		Observed: fmt.Sprintf("Windows %s, not a HostProcess container%s", windows, mounting(v.DaemonSet)),
		Expected: "a HostProcess container without csi-proxy's pipes",
		Why:      fmt.Sprintf("%s from %s on has no client of csi-proxy: in this pod it can't reach the node's disks", v.Catalog.Title, first.From),
		When:     rules.Before, Evidence: slices.Concat(v.Evidence(), pipeEvidence(v.DaemonSet)),
	}
	switch {
	case !known:
		d.Severity = finding.Unknown
		d.Observed = "the Windows version isn't known, and the pod isn't a HostProcess container"
		d.Why = "it depends on the version: " + d.Why
		d.Remedy = "pin the image to a version: below " + first.From + " this manifest stays, from it on the project's whole manifest is needed"
		d.NoStep = true
	case !v.Line.HostProcessOnly():
		return
	default:
		d.Do = remedy.Change(v, windows)
		if back, ok := downgrade(v); ok {
			d.Remedy = fmt.Sprintf("%s; or go back to v%s, the version that Linux has now, which runs in the present pod", rules.Summaries(action.Records(d.Do)), back.Core())
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

func mounting(d *inventory.Driver) string {
	if len(d.Pipes) == 0 {
		return ""
	}
	return " and mounts " + inventory.Many(len(d.Pipes), "csi-proxy pipe")
}

func pipeEvidence(d *inventory.Driver) []inventory.Evidence {
	return snapshot.Map(d.Pipes, func(p inventory.Pipe) inventory.Evidence { return p.At })
}

// hostProcessPipes is HP002.
func hostProcessPipes(v *snapshot.View, report rules.Report) {
	mounts, at := mountedPipes(v.DaemonSet)
	if !v.DaemonSet.HostProcess || mounts == "" {
		return
	}
	report(rules.Finding{
		Severity: finding.Block,
		Observed: "a HostProcess container that mounts " + mounts,
		Expected: "a HostProcess container without pipes, or pipes without HostProcess",
		Why:      "Windows doesn't support mounts of named pipes in HostProcess containers",
		Do:       withoutPipes(v),
		When:     rules.Before, Evidence: at,
	})
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

// hostProcessFlag is HP003.
func hostProcessFlag(v *snapshot.View, report rules.Report) {
	given := v.DaemonSet.HostProcessFlag
	set := given != nil && *given
	flag, since := "", ""
	if flagged := v.LineWith(func(l *catalog.Line) bool { return l.Flag != "" }); flagged != nil {
		flag, since = flagged.Flag, flagged.From
	}
	d := rules.Finding{Severity: finding.Block, When: rules.Before, Evidence: slices.Concat(v.Evidence(), v.DaemonSet.Evidence)}
	switch {
	case v.FollowsLinux():
		return
	case len(v.DaemonSet.ForeignFlags) > 0:
		foreignFlag(v, &d)
	case flag == "":
		return
	case v.DaemonSet.HostProcessFlagReason != "":
		unreadFlag(v, flag, &d)
	case set && !v.DaemonSet.HostProcess:
		d.Observed, d.Expected = flag+" in a pod that isn't HostProcess", "the flag in a HostProcess pod alone"
		d.Why, d.Later = "with the flag the driver works on the node itself, which it can't from inside its own container", true
		d.Do = edit(v, nil, action.Flags{Drop: []string{flag}}, "remove %s from %s, or apply the project's HostProcess manifest whole", flag, v.DaemonSet.Object)
	case given != nil && v.Line != nil && v.Line.Flag == "":
		d.Observed, d.Expected = flag+" with a version that lacks it", "no "+flag
		d.Why = "the driver ends at a flag that it doesn't know"
		d.Do = edit(v, nil, action.Flags{Drop: []string{flag}}, "remove %s from %s, or deploy a version from %s on", flag, v.DaemonSet.Object, since)
	case !v.DaemonSet.HostProcess || set && v.Line != nil:
		return
	case v.Line == nil:
		d.Severity = finding.Unknown
		d.Observed, d.Expected = "a HostProcess pod without "+flag+", of an unknown version", flag+"=true from "+since+" on, and not before"
		if given != nil {
			d.Observed = fmt.Sprintf("a HostProcess pod with %s=%t, of an unknown version", flag, *given)
		}
		d.Why = "whether the version has the flag, and needs it, can't be told"
		d.Remedy = "pin the image to a version, or say which one it is with --image-version " + rules.ImageKey(v) + "=vX.Y.Z"
		d.NoStep = true // SKEW005's step does it
	case v.Line.Flag != "":
		d.Observed, d.Expected = "a HostProcess pod without "+flag, flag+"=true"
		d.Why = "without the flag the driver dials csi-proxy's pipes"
		given := true
		d.Do = edit(v, &given, action.Flags{Drop: []string{flag}, Give: flag + "=true"}, "add %s=true to the arguments of container %s of %s", flag, remedy.Container(v.DaemonSet), v.DaemonSet.Object)
	default:
		return
	}
	report(d)
}

// foreignFlag tells of a flag for HostProcess that only other drivers have.
func foreignFlag(v *snapshot.View, d *rules.Finding) {
	flags := strings.Join(v.DaemonSet.ForeignFlags, " and ")
	d.Observed, d.Expected = flags+", which is another driver's flag", "no "+flags
	d.Why = "the driver ends at a flag that it doesn't know"
	d.Do = edit(v, v.DaemonSet.HostProcessFlag, action.Flags{Drop: v.DaemonSet.ForeignFlags}, "remove %s from %s", flags, v.DaemonSet.Object)
	if own, given := ownFlag(v), true; own != "" {
		d.Expected = own + "=true"
		d.Do = edit(v, &given, action.Flags{Drop: append(slices.Clone(v.DaemonSet.ForeignFlags), own), Give: own + "=true"}, "give container %s of %s %s=true instead of %s", remedy.Container(v.DaemonSet), v.DaemonSet.Object, own, flags)
	}
}

// ownFlag is the flag that the driver lacks; "" where it has it, or needs none.
func ownFlag(v *snapshot.View) string {
	if !v.DaemonSet.HostProcess || v.Line == nil || v.DaemonSet.HostProcessFlag != nil && *v.DaemonSet.HostProcessFlag {
		return ""
	}
	return v.Line.Flag
}

// unreadFlag tells of a flag whose value something else than the manifest sets.
func unreadFlag(v *snapshot.View, flag string, d *rules.Finding) {
	pod := map[bool]string{true: "in a HostProcess pod", false: "in a pod that isn't HostProcess"}[v.DaemonSet.HostProcess]
	d.Severity, d.Observed, d.Expected = finding.Unknown, pod+", "+v.DaemonSet.HostProcessFlagReason, fmt.Sprintf("%s=%t", flag, v.DaemonSet.HostProcess)
	d.Why = "whether the flag and the pod agree can't be told"
	d.Do = edit(v, &v.DaemonSet.HostProcess, action.Flags{Drop: []string{flag}, Give: d.Expected}, "write the value itself into the arguments of container %s of %s", remedy.Container(v.DaemonSet), v.DaemonSet.Object)
	if v.Line != nil && v.Line.Flag == "" {
		d.Expected, d.Why = "no "+flag, "the driver ends at a flag that it doesn't know, and its version lacks this one"
		d.Do = edit(v, nil, action.Flags{Drop: []string{flag}}, "remove the argument from container %s of %s", remedy.Container(v.DaemonSet), v.DaemonSet.Object)
	}
}

// hostProcessImage is HP004.
func hostProcessImage(v *snapshot.View, report rules.Report) {
	if v.DaemonSet.HostProcess && v.Line != nil && v.Line.HostProcess == catalog.HostProcessNone {
		unsupportedHostProcess(v, report)
		return
	}
	suffixed := v.LineWith(func(l *catalog.Line) bool { return l.ImageSuffix != "" })
	if suffixed == nil || v.DaemonSet.Image.Tag == "" || v.FollowsLinux() {
		return
	}
	suffix := "-" + suffixed.ImageSuffix
	d := rules.Finding{Severity: finding.Warn, When: rules.Before, Evidence: v.Evidence(), Observed: "tag " + v.DaemonSet.Image.Tag}
	switch has := strings.HasSuffix(v.DaemonSet.Image.Tag, suffix); {
	case has && !v.DaemonSet.HostProcess:
		d.Observed += " in a pod that isn't HostProcess"
		d.Expected = strings.TrimSuffix(v.DaemonSet.Image.Tag, suffix)
		d.Why = "the image holds the driver for HostProcess pods alone"
		d.Do = setTag(v, d.Expected, false)
	case !has && v.DaemonSet.HostProcess && v.Line != nil && v.Line.ImageSuffix != "":
		d.Observed += " in a HostProcess pod"
		d.Expected = v.DaemonSet.Image.Tag + suffix
		d.Why = "the plain image is made for a container of its own; the project publishes another one for HostProcess"
		d.Do = setTag(v, d.Expected, true)
	default:
		return
	}
	report(d)
}

// unsupportedHostProcess tells of a driver that was never made for such a pod.
func unsupportedHostProcess(v *snapshot.View, report rules.Report) {
	windows, _ := v.Windows()
	place, _ := remedy.ManifestOf(v.Catalog, false, windows)
	report(rules.Finding{
		Severity: finding.Warn, When: rules.Before, Evidence: v.Evidence(),
		Observed: fmt.Sprintf("Windows %s in a HostProcess pod", windows),
		Expected: "a pod of the kind that the project's manifest of this version has",
		Why:      fmt.Sprintf("%s %s doesn't support HostProcess, and whether it works in such a pod isn't known", v.Catalog.Title, windows),
		Remedy:   fmt.Sprintf("apply the project's Windows manifest of v%s whole, %s", windows.Core(), place),
	})
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

// setTag gives the driver's image the tag of the other kind of container.
func setTag(v *snapshot.View, tag string, hostProcess bool) []action.Action {
	windows, _ := v.Windows()
	return remedy.Retag(v, hostProcess, windows, tag)
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

// hostProcessCrossing is HP005.
func hostProcessCrossing(v *snapshot.View, report rules.Report) {
	l, must := v.Linux(), Ahead(v)
	if must == "" {
		return
	}
	d := rules.Finding{
		Severity: finding.Warn,
		Observed: fmt.Sprintf("Windows uses %s; Linux %s%s is of a line for which HostProcess is %s", inventory.Many(len(v.DaemonSet.Pipes), "csi-proxy pipe"), l, v.WhoseLinux(), must),
		Expected: "the HostProcess manifest, when Windows follows Linux",
		Why:      "the Windows version that fits the target isn't a change of the tag: its manifest, the namespace's Pod Security level and the SCC change too",
		When:     rules.After,
		Evidence: slices.Concat(pipeEvidence(v.DaemonSet), l.Evidence()),
	}
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
