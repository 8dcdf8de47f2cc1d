package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// lineWith is the first line of the driver that a test takes; nil for none.
func (v *view) lineWith(test func(*catalog.Line) bool) *catalog.Line {
	if v.Catalog == nil {
		return nil
	}
	for i := range v.Catalog.Lines {
		if l := &v.Catalog.Lines[i]; test(l) {
			return l
		}
	}
	return nil
}

func mandatory(l *catalog.Line) bool { return l.HostProcess == catalog.HostProcessMandatory }

// hostProcessRequired is HP001.
func hostProcessRequired(v *view, out *sink) {
	first := v.lineWith(mandatory)
	windows, known := v.Windows()
	if v.D.HostProcess || v.Moves() || first == nil || !known && v.D.Container == "" {
		return // SKEW005 asks for the container that runs the driver
	}
	d := draft{
		Severity: finding.Block,
		Observed: fmt.Sprintf("Windows %s, not a HostProcess container%s", windows, mounting(v.D)),
		Expected: "a HostProcess container without csi-proxy's pipes",
		Why:      fmt.Sprintf("%s from %s on has no client of csi-proxy: in this pod it can't reach the node's disks", v.Catalog.Title, first.From),
		When:     before, Evidence: slices.Concat(v.evidence(), pipeEvidence(v.D)),
	}
	switch {
	case !known:
		d.Severity = finding.Unknown
		d.Observed = "the Windows version isn't known, and the pod isn't a HostProcess container"
		d.Why = "it depends on the version: " + d.Why
		d.Remedy = "pin the image to a version: below " + first.From + " this manifest stays, from it on the project's whole manifest is needed"
		d.NoStep = true
	case v.Line == nil || !mandatory(v.Line):
		return
	default:
		d.Do = v.change(windows)
		if back, ok := v.wayBack(); ok {
			d.Remedy = fmt.Sprintf("%s; or go back to v%s, the version that Linux has now, which runs in the present pod", summaries(action.Records(d.Do)), back.Core())
		}
	}
	out.add(d)
}

// misplaced tells whether HP001 speaks of the driver.
func (v *view) misplaced() bool {
	return !v.D.HostProcess && !v.Moves() && v.Line != nil && mandatory(v.Line)
}

// wayBack is the version that Linux has now, where the present pod can run that
// one.
func (v *view) wayBack() (version.Driver, bool) {
	linux, certain := v.LinuxNow.Certain()
	line := (*catalog.Line)(nil)
	if certain {
		line = v.Catalog.Line(linux)
	}
	return linux, line != nil && !v.Planned && newManifest(v.D, line, false) == ""
}

func mounting(d *inventory.Driver) string {
	if len(d.Pipes) == 0 {
		return ""
	}
	return " and mounts " + many(len(d.Pipes), "csi-proxy pipe")
}

func pipeEvidence(d *inventory.Driver) []inventory.Evidence {
	var list []inventory.Evidence
	for _, p := range d.Pipes {
		list = append(list, p.At)
	}
	return list
}

func (v *view) privilegedNamespace() bool {
	return v.inv.Cluster.Namespace(v.D.Object.Namespace).Privileged()
}

// serviceAccount is what a driver's pods run as; "" of a manifest that isn't
// whole, where the rest may say it.
func serviceAccount(d *inventory.Driver) string {
	if d.Partial != "" {
		return d.ServiceAccount
	}
	return cmp.Or(d.ServiceAccount, "default")
}

// hostProcessPipes is HP002.
func hostProcessPipes(v *view, out *sink) {
	mounts, at := mountedPipes(v.D)
	if !v.D.HostProcess || mounts == "" {
		return
	}
	out.add(draft{
		Severity: finding.Block,
		Observed: "a HostProcess container that mounts " + mounts,
		Expected: "a HostProcess container without pipes, or pipes without HostProcess",
		Why:      "Windows doesn't support mounts of named pipes in HostProcess containers",
		Do:       v.withoutPipes(),
		When:     before, Evidence: at,
	})
}

// mountedPipes names the pipes that any container of the pod mounts, wherever
// to: all of a HostProcess pod's containers are such containers.
func mountedPipes(d *inventory.Driver) (string, []inventory.Evidence) {
	var names []string
	for _, p := range d.Pipes {
		names = append(names, p.Name())
	}
	at := pipeEvidence(d)
	for _, p := range d.Unmounted {
		if p.Container != "" {
			names = append(names, fmt.Sprintf("%s (in %s)", p.Name(), p.Container))
			at = append(at, p.At)
		}
	}
	return strings.Join(names, ", "), at
}

// withoutPipes is the way to a pod that mounts none: the DaemonSet of its version
// where bake writes it, which is sure to have nothing else left over.
func (v *view) withoutPipes() []action.Action {
	windows, known := v.Windows()
	if _, ok := v.bakes(windows, true); known && ok {
		return v.replacement(windows, true, "")
	}
	return v.edit(nil, "remove the hostPath volumes csi-proxy-* and their mounts from %s", v.D.Object)
}

// hostProcessFlag is HP003.
func hostProcessFlag(v *view, out *sink) {
	given := v.D.HostProcessFlag
	set := given != nil && *given
	flagged := v.lineWith(func(l *catalog.Line) bool { return l.Flag != "" })
	switch {
	case v.Moves():
		return
	case len(v.D.ForeignFlags) > 0:
		out.add(v.foreignFlag())
		return
	case flagged == nil:
		return
	case v.D.HostProcessFlagReason != "":
		out.add(v.unreadFlag(flagged.Flag))
		return
	}
	d := draft{Severity: finding.Block, When: before, Evidence: slices.Concat(v.evidence(), v.D.Evidence)}
	flag := flagged.Flag
	switch {
	case set && !v.D.HostProcess:
		d.Observed, d.Expected = flag+" in a pod that isn't HostProcess", "the flag in a HostProcess pod alone"
		d.Why, d.Later = "with the flag the driver works on the node itself, which it can't from inside its own container", true
		d.Do = v.edit(v.withFlag(nil), "remove %s from %s, or apply the project's HostProcess manifest whole", flag, v.D.Object)
	case given != nil && v.Line != nil && v.Line.Flag == "":
		d.Observed, d.Expected = flag+" with a version that hasn't got it", "no "+flag
		d.Why = "the driver ends at a flag that it doesn't know"
		d.Do = v.edit(v.withFlag(nil), "remove %s from %s, or deploy a version from %s on", flag, v.D.Object, flagged.From)
	case !v.D.HostProcess || set && v.Line != nil:
		return
	case v.Line == nil:
		d.Severity = finding.Unknown
		d.Observed, d.Expected = "a HostProcess pod without "+flag+", of an unknown version", flag+"=true from "+flagged.From+" on, and not before"
		if given != nil {
			d.Observed = fmt.Sprintf("a HostProcess pod with %s=%t, of an unknown version", flag, *given)
		}
		d.Why = "whether the version has the flag, and needs it, can't be told"
		d.Remedy = "pin the image to a version, or say which one it is with --image-version " + v.imageKey() + "=vX.Y.Z"
		d.NoStep = true // SKEW005's step does it
	case v.Line.Flag != "":
		d.Observed, d.Expected = "a HostProcess pod without "+flag, flag+"=true"
		d.Why = "without the flag the driver dials csi-proxy's pipes"
		given := true
		d.Do = v.edit(v.withFlag(&given), "add %s=true to the arguments of container %s of %s", flag, container(v.D), v.D.Object)
	default:
		return
	}
	out.add(d)
}

// foreignFlag tells of a flag for HostProcess that only other drivers have.
func (v *view) foreignFlag() draft {
	flags := strings.Join(v.D.ForeignFlags, " and ")
	d := draft{
		Severity: finding.Block, When: before, Evidence: slices.Concat(v.evidence(), v.D.Evidence),
		Observed: flags + ", which is another driver's flag", Expected: "no " + flags,
		Why: "the driver ends at a flag that it doesn't know",
		Do:  v.edit(v.withFlag(v.D.HostProcessFlag), "remove %s from %s", flags, v.D.Object),
	}
	if own, given := v.ownFlag(), true; own != "" {
		d.Expected = own + "=true"
		d.Do = v.edit(v.withFlag(&given), "give container %s of %s %s=true instead of %s", container(v.D), v.D.Object, own, flags)
	}
	return d
}

// ownFlag is the flag that the driver lacks; "" where it has it, or needs none.
func (v *view) ownFlag() string {
	if !v.D.HostProcess || v.Line == nil || v.D.HostProcessFlag != nil && *v.D.HostProcessFlag {
		return ""
	}
	return v.Line.Flag
}

// unreadFlag tells of a flag whose value something else than the manifest sets.
func (v *view) unreadFlag(flag string) draft {
	pod := "in a pod that isn't HostProcess"
	if v.D.HostProcess {
		pod = "in a HostProcess pod"
	}
	d := draft{
		Severity: finding.Unknown, When: before, Evidence: slices.Concat(v.evidence(), v.D.Evidence),
		Observed: pod + ", " + v.D.HostProcessFlagReason, Expected: fmt.Sprintf("%s=%t", flag, v.D.HostProcess),
		Why: "whether the flag and the pod agree can't be told",
		Do:  v.edit(v.withFlag(&v.D.HostProcess), "write the value itself into the arguments of container %s of %s", container(v.D), v.D.Object),
	}
	if v.Line != nil && v.Line.Flag == "" {
		d.Expected, d.Why = "no "+flag, "the driver ends at a flag that it doesn't know, and its version hasn't got this one"
		d.Do = v.edit(v.withFlag(nil), "remove the argument from container %s of %s", container(v.D), v.D.Object)
	}
	return d
}

// hostProcessImage is HP004.
func hostProcessImage(v *view, out *sink) {
	if v.D.HostProcess && v.Line != nil && v.Line.HostProcess == catalog.HostProcessNone {
		unsupportedHostProcess(v, out)
		return
	}
	suffixed := v.lineWith(func(l *catalog.Line) bool { return l.ImageSuffix != "" })
	if suffixed == nil || v.D.Image.Tag == "" || v.Moves() {
		return
	}
	suffix := "-" + suffixed.ImageSuffix
	d := draft{Severity: finding.Warn, When: before, Evidence: v.evidence(), Observed: "tag " + v.D.Image.Tag}
	switch has := strings.HasSuffix(v.D.Image.Tag, suffix); {
	case has && !v.D.HostProcess:
		d.Observed += " in a pod that isn't HostProcess"
		d.Expected = strings.TrimSuffix(v.D.Image.Tag, suffix)
		d.Why = "the image holds the driver for HostProcess pods alone"
		d.Do = v.setTag(d.Expected, false)
	case !has && v.D.HostProcess && v.Line != nil && v.Line.ImageSuffix != "":
		d.Observed += " in a HostProcess pod"
		d.Expected = v.D.Image.Tag + suffix
		d.Why = "the plain image is made for a container of its own; the project publishes another one for HostProcess"
		d.Do = v.setTag(d.Expected, true)
	default:
		return
	}
	out.add(d)
}

// unsupportedHostProcess tells of a driver that was never made for such a pod.
func unsupportedHostProcess(v *view, out *sink) {
	windows, _ := v.Windows()
	place, _ := manifestOf(v.Catalog, false, windows)
	out.add(draft{
		Severity: finding.Warn, When: before, Evidence: v.evidence(),
		Observed: fmt.Sprintf("Windows %s in a HostProcess pod", windows),
		Expected: "a pod of the kind that the project's manifest of this version has",
		Why:      fmt.Sprintf("%s %s doesn't support HostProcess, and whether it works in such a pod isn't known", v.Catalog.Title, windows),
		Remedy:   fmt.Sprintf("apply the project's Windows manifest of v%s whole, %s", windows.Core(), place),
	})
}

// edit changes something in the DaemonSet that no command but an editor does.
func (v *view) edit(becomes *inventory.Driver, format string, args ...any) []action.Action {
	text := fmt.Sprintf(format, args...)
	if v.inFile() {
		return []action.Action{action.ByHand{Text: text, Object: v.D.Object.String(), Becomes: becomes}}
	}
	return []action.Action{action.EditDriver{Object: v.D.Object, Text: text, Strategy: v.D.Strategy, Becomes: becomes}}
}

// withFlag is the driver with its HostProcess flag given, or not, and no other
// driver's.
func (v *view) withFlag(given *bool) *inventory.Driver {
	d := *v.D
	d.HostProcessFlag, d.HostProcessFlagReason, d.ForeignFlags = given, "", nil
	return &d
}

// setTag gives the driver's image the tag of the other kind of container.
func (v *view) setTag(tag string, hostProcess bool) []action.Action {
	windows, _ := v.Windows()
	return v.retag(hostProcess, windows, tag)
}

// crossing is what HostProcess is to the Linux side's line, where a driver with
// pipes is to follow it there: mandatory, default, or "".
func (v *view) crossing() catalog.HostProcess {
	if v.D.HostProcess || len(v.D.Pipes) == 0 || v.Catalog == nil || v.Moves() || v.leaves() || v.Line != nil && mandatory(v.Line) {
		return ""
	}
	must := v.strictest(v.Linux())
	if must == catalog.HostProcessMandatory || must == catalog.HostProcessDefault && v.Phase != Now && v.strictest(&v.LinuxNow) != must {
		return must
	}
	return ""
}

// hostProcessCrossing is HP005.
func hostProcessCrossing(v *view, out *sink) {
	l, must := v.Linux(), v.crossing()
	if must == "" {
		return
	}
	d := draft{
		Severity: finding.Warn,
		Observed: fmt.Sprintf("Windows uses %s; Linux %s%s is of a line for which HostProcess is %s", many(len(v.D.Pipes), "csi-proxy pipe"), l, v.where(), must),
		Expected: "the HostProcess manifest, when Windows follows Linux",
		Why:      "the Windows version that fits the target isn't a change of the tag: its manifest, the namespace's Pod Security level and the SCC change too",
		When:     after,
		Evidence: slices.Concat(pipeEvidence(v.D), l.evidence()),
	}
	to := v.fit(v.D, l.Newest())
	d.Do = v.changeAfter(to)
	prepared := v.plannedFor(v.D)
	if must == catalog.HostProcessDefault || len(prepared) > 0 && !slices.ContainsFunc(prepared, func(p *inventory.Driver) bool { return !p.HostProcess }) {
		d.Severity, d.PlanInfo = finding.Info, v.Hops > 0
	}
	if must == catalog.HostProcessDefault && v.plannedFor(v.D) == nil {
		d.Remedy = fmt.Sprintf("nothing has to be done: with v%s the present pod goes on working with csi-proxy, and the project deploys it as a HostProcess container", to.Core())
	}
	if v.rivalled() {
		d.Remedy, d.Do, d.NoStep = settleFirst, nil, true
	}
	if line := v.Catalog.Line(l.Newest()); line != nil && len(line.Evidence) > 0 {
		d.Source = line.Evidence[0].Source
	}
	out.add(d)
}

// strictest is what HostProcess is to the strictest line that the Linux side's
// version may be of.
func (v *view) strictest(l *linuxSide) catalog.HostProcess {
	order := []catalog.HostProcess{"", catalog.HostProcessNone, catalog.HostProcessOptional, catalog.HostProcessDefault, catalog.HostProcessMandatory}
	worst := 0
	for _, c := range l.Candidates {
		if line := v.Catalog.Line(c.Version); line != nil {
			worst = max(worst, slices.Index(order, line.HostProcess))
		}
	}
	return order[worst]
}
