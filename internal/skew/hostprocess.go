package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
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
		c := v.change(windows)
		if v.Planned {
			c.What = "in " + plannedFile(v.D) + ", " + c.What
		}
		d.Remedy = v.admitted(c).text()
		d.Step = v.step(c)
		if back, ok := v.wayBack(); ok {
			d.Remedy = laidOut("quickest is the version that Linux has now: "+back.text(), "or "+d.Remedy)
		}
	}
	out.add(d)
}

// misplaced tells whether HP001 speaks of the driver.
func (v *view) misplaced() bool {
	return !v.D.HostProcess && !v.Moves() && v.Line != nil && mandatory(v.Line)
}

// wayBack is the change to the version that Linux has now, where the present
// pod can run that one.
func (v *view) wayBack() (change, bool) {
	linux, certain := v.LinuxNow.Certain()
	if !certain || v.Planned || newManifest(v.D, v.Catalog.Line(linux), false) != "" || v.Catalog.Line(linux) == nil {
		return change{}, false
	}
	return v.change(linux), true
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

// privileges are the commands that give a HostProcess pod of a version what it
// needs of its namespace, with words before them; "" where the namespace has it,
// or bake's folder brings it.
func (v *view) privileges(to version.Driver) string {
	if _, ok := v.bakes(v.D, to, true); ok || v.privilegedNamespace() {
		return ""
	}
	return "\nA HostProcess pod needs of its namespace:\n" + privilegeCommands(v.D)
}

func (v *view) privilegedNamespace() bool {
	return v.inv.Cluster.Namespace(v.D.Object.Namespace).Privileged()
}

// privilegeCommands are two lines that let privileged pods run in a driver's
// namespace.
func privilegeCommands(d *inventory.Driver) string {
	ns := cmp.Or(d.Object.Namespace, "<namespace>")
	return fmt.Sprintf("oc label namespace %s pod-security.kubernetes.io/enforce=privileged --overwrite\noc -n %s adm policy add-scc-to-user privileged -z %s",
		ns, ns, serviceAccount(d))
}

// serviceAccount is what a driver's pods run as; of a manifest that isn't whole
// it may stand in the rest.
func serviceAccount(d *inventory.Driver) string {
	if d.Partial != "" {
		return cmp.Or(d.ServiceAccount, "SERVICE_ACCOUNT")
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
		Remedy:   v.withoutPipes(),
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
func (v *view) withoutPipes() string {
	windows, known := v.Windows()
	b, ok := v.bakes(v.D, windows, true)
	if !known || !ok {
		return fmt.Sprintf("remove the hostPath volumes csi-proxy-* and their mounts from %s", v.D.Object)
	}
	c := v.bakedChange(v.D, b, windows, "", v.Planned || v.req.Static)
	return laidOut(fmt.Sprintf("replace %s by the one that bake writes, or remove the hostPath volumes csi-proxy-* and their mounts from it:", v.D.Object), c.Command)
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
		d.Remedy = fmt.Sprintf("remove %s from %s, or apply the project's HostProcess manifest whole%s", flag, v.D.Object, v.hostProcessManifest())
	case given != nil && v.Line != nil && v.Line.Flag == "":
		d.Observed, d.Expected = flag+" with a version that hasn't got it", "no "+flag
		d.Why = "the driver ends at a flag that it doesn't know"
		d.Remedy = laidOut(fmt.Sprintf("remove %s from %s, or deploy a version from %s on", flag, v.D.Object, flagged.From), v.edit())
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
		d.Remedy = laidOut(fmt.Sprintf("add %s=true to the arguments of container %s of %s", flag, container(v.D), v.D.Object), v.edit())
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
		Why:    "the driver ends at a flag that it doesn't know",
		Remedy: fmt.Sprintf("remove %s from %s", flags, v.D.Object),
	}
	if own := v.ownFlag(); own != "" {
		d.Expected = own + "=true"
		d.Remedy = fmt.Sprintf("give container %s of %s %s=true instead of %s", container(v.D), v.D.Object, own, flags)
	}
	d.Remedy = laidOut(d.Remedy, v.edit())
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
		Why:    "whether the flag and the pod agree can't be told",
		Remedy: fmt.Sprintf("write the value itself into the arguments of container %s of %s", container(v.D), v.D.Object),
	}
	if v.Line != nil && v.Line.Flag == "" {
		d.Expected, d.Why = "no "+flag, "the driver ends at a flag that it doesn't know, and its version hasn't got this one"
		d.Remedy = fmt.Sprintf("remove the argument from container %s of %s", container(v.D), v.D.Object)
	}
	d.Remedy = laidOut(d.Remedy, v.edit())
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
		d.Remedy = laidOut(v.setTag(d.Expected, false), "or apply the project's HostProcess manifest whole"+v.hostProcessManifest())
	case !has && v.D.HostProcess && v.Line != nil && v.Line.ImageSuffix != "":
		d.Observed += " in a HostProcess pod"
		d.Expected = v.D.Image.Tag + suffix
		d.Why = "the plain image is made for a container of its own; the project publishes another one for HostProcess"
		d.Remedy = v.setTag(d.Expected, true)
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

// edit is the command that opens the DaemonSet; "" where it is a file.
func (v *view) edit() string {
	if v.Planned || v.req.Static {
		return ""
	}
	return fmt.Sprintf("oc %sedit daemonset %s", namespace(v.D), v.D.Object.Name)
}

// setTag is how the driver's image gets the tag of the other kind of container.
func (v *view) setTag(tag string, hostProcess bool) string {
	windows, _ := v.Windows()
	return retag(v.D, v.Catalog, hostProcess, windows, tag, v.Planned || v.req.Static).text()
}

// hostProcessManifest names where the HostProcess manifest of the present
// version stands, for the end of a sentence; "" where the version isn't known.
func (v *view) hostProcessManifest() string {
	windows, known := v.Windows()
	if !known {
		return ""
	}
	return v.placeText(windows)
}

// placeText says where the HostProcess manifest of a version stands.
func (v *view) placeText(to version.Driver) string {
	if b, ok := v.bakes(v.D, to, true); ok {
		return ", which `" + b.command() + "` writes"
	}
	place, render := manifestOf(v.Catalog, true, to)
	if render != "" {
		return ", which `" + render + "` writes"
	}
	return ", " + place
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
		When:     after, NoStep: v.Hops > 0,
		Evidence: slices.Concat(pipeEvidence(v.D), l.evidence()),
	}
	to := v.fit(v.D, l.Newest())
	c := v.changeAfter(to)
	d.Remedy, d.Step = v.admitted(c).text(), v.step(c)
	prepared := v.plannedFor(v.D)
	if must == catalog.HostProcessDefault || len(prepared) > 0 && !slices.ContainsFunc(prepared, func(p *inventory.Driver) bool { return !p.HostProcess }) {
		d.Severity, d.PlanInfo = finding.Info, v.Hops > 0
	}
	if must == catalog.HostProcessDefault && v.plannedFor(v.D) == nil {
		d.Remedy = laidOut(fmt.Sprintf("plan the project's HostProcess manifest for v%s%s", to.Core(), v.placeText(to)), v.privileges(to),
			"\nThe present one goes on working with csi-proxy: "+c.What, c.Command)
	}
	if v.rivalled() {
		d.Remedy, d.NoStep = settleFirst, true
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
