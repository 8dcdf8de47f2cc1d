package kube

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// hostProcessFlags tell a driver that it runs as a HostProcess container:
// Azure's and SMB's, and EBS'.
var hostProcessFlags = []string{"enable-windows-host-process", "windows-host-process"}

// ownFlags are the flags for it that a driver has: of one that the catalog
// doesn't know it may be any.
func ownFlags(d *catalog.Driver) []string {
	if d == nil || len(d.Lines) == 0 {
		return hostProcessFlags
	}
	var own []string
	for i := range d.Lines {
		if flag := strings.TrimLeft(d.Lines[i].Flag, "-"); flag != "" && !slices.Contains(own, flag) {
			own = append(own, flag)
		}
	}
	return own
}

func readFlags(d *inventory.Driver, p podTemplate, ct *container, own []string) {
	for _, name := range hostProcessFlags {
		value, w, given := podtext.BoolFlag(ct.words, name)
		if !given {
			continue
		}
		d.Evidence = append(d.Evidence, inventory.Evidence{Where: p.at(w.Path...), Text: w.Text})
		switch {
		case !slices.Contains(own, name):
			d.ForeignFlags = append(d.ForeignFlags, "--"+name)
		case podtext.Unset(w.Text):
			d.HostProcessFlagReason = printable.Clip(w.Text) + ": what is put in isn't in the manifest"
		default:
			d.HostProcessFlag = &value
		}
	}
	if d.HostProcessFlag != nil || d.HostProcessFlagReason != "" {
		return
	}
	if w, found := ct.openFlag(); found {
		d.Evidence = append(d.Evidence, inventory.Evidence{Where: p.at(w.Path...), Text: w.Text})
		d.HostProcessFlagReason = printable.Clip(w.Text) + " may be the flag: what is put in isn't in the manifest"
	}
}

// openFlag is an argument that may turn out to be any flag: a variable that the
// manifest doesn't set. Behind a flag without a value it is that value.
func (ct *container) openFlag() (podtext.Word, bool) {
	for i, w := range ct.words {
		name, isVariable := podtext.VariableName(w.Text)
		valueOfFlag := i > 0 && strings.HasPrefix(ct.words[i-1].Text, "-") && !strings.Contains(ct.words[i-1].Text, "=")
		if isVariable && !valueOfFlag && !ct.fromField(name) {
			return w, true
		}
	}
	return podtext.Word{}, false
}

// fromField tells of a variable that the pod's own fields or its resources set:
// a name, an address or a number, and no flag.
func (ct *container) fromField(name string) bool {
	return slices.ContainsFunc(ct.Env, func(e corev1.EnvVar) bool {
		return e.Name == name && e.ValueFrom != nil && (e.ValueFrom.FieldRef != nil || e.ValueFrom.ResourceFieldRef != nil)
	})
}

// operatingSystem tells where the pods run, by what schedules them and then by
// what only Windows has. Tolerations say where pods may run and are no
// evidence, and neither is a path with forward slashes.
func operatingSystem(p podTemplate, cts []container) (string, inventory.Evidence) {
	if os, at := scheduledOS(p); os != "" {
		return os, at
	}
	if os, at := windowsTraces(p, cts); os != "" {
		return os, at
	}
	return linuxTraces(p)
}

// linuxTraces looks for what a container can't have on Windows: privileges and
// the propagation of mounts, which node plugins for Linux have and which no
// vendor writes for Windows. https://kubernetes.io/docs/concepts/windows/intro/
// says that neither is there.
func linuxTraces(p podTemplate) (string, inventory.Evidence) {
	for _, at := range p.lasting() {
		ct, path := at.ct, at.path
		if sc := ct.SecurityContext; sc != nil && sc.Privileged != nil && *sc.Privileged {
			return linux, inventory.Evidence{Where: p.at(below(path, "securityContext", "privileged")...), Text: "privileged: true"}
		}
		for j, m := range ct.VolumeMounts {
			if m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationBidirectional {
				return linux, inventory.Evidence{Where: p.at(below(path, "volumeMounts", j, "mountPropagation")...), Text: "mountPropagation: Bidirectional"}
			}
		}
	}
	return "", inventory.Evidence{}
}

// scheduledOS is the operating system that pod and scheduler agree on.
func scheduledOS(p podTemplate) (string, inventory.Evidence) {
	for _, label := range osLabels {
		if os := strings.ToLower(p.spec.NodeSelector[label]); os == linux || os == windows {
			return os, p.evidence(label+": "+os, "nodeSelector", label)
		}
	}
	if os, label := affineOS(p.spec.Affinity); os != "" {
		return os, p.evidence(label+": "+os, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	}
	if p.spec.OS != nil && p.spec.OS.Name != "" {
		return string(p.spec.OS.Name), p.evidence(string(p.spec.OS.Name), "os", "name")
	}
	if build := p.spec.NodeSelector[corev1.LabelWindowsBuild]; build != "" {
		return windows, p.evidence(corev1.LabelWindowsBuild+": "+build, "nodeSelector", corev1.LabelWindowsBuild)
	}
	return "", inventory.Evidence{}
}

// affineOS is the one system that every term of the required affinity asks
// for.
func affineOS(a *corev1.Affinity) (os, label string) {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return "", ""
	}
	for i, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		found, by := termOS(term)
		if found == "" || i > 0 && found != os {
			return "", ""
		}
		os, label = found, by
	}
	return os, label
}

// termOS reads a term; not the one system is the other.
func termOS(term corev1.NodeSelectorTerm) (os, label string) {
	for _, e := range term.MatchExpressions {
		for _, label := range osLabels {
			if e.Key != label || len(e.Values) != 1 {
				continue
			}
			switch value := e.Values[0]; {
			case e.Operator == corev1.NodeSelectorOpIn && (value == linux || value == windows):
				return value, label
			case e.Operator == corev1.NodeSelectorOpNotIn && value == windows:
				return linux, label
			case e.Operator == corev1.NodeSelectorOpNotIn && value == linux:
				return windows, label
			}
		}
	}
	return "", ""
}

// windowsTraces looks for what only a Windows pod has.
func windowsTraces(p podTemplate, cts []container) (string, inventory.Evidence) {
	if o := podWindowsOptions(p); o != nil && o.HostProcess != nil && *o.HostProcess {
		return windows, p.evidence("hostProcess: true", "securityContext", "windowsOptions", "hostProcess")
	}
	for i, v := range p.spec.Volumes {
		if v.HostPath != nil && podtext.IsWindowsPath(v.HostPath.Path) {
			return windows, p.evidence(v.HostPath.Path, "volumes", i, "hostPath", "path")
		}
	}
	for i := range cts {
		if w, ok := cts[i].windowsWord(); ok {
			return windows, inventory.Evidence{Where: p.at(w.Path...), Text: w.Text}
		}
	}
	return "", inventory.Evidence{}
}

// windowsWord is an argument that makes sense on Windows alone.
func (ct *container) windowsWord() (podtext.Word, bool) {
	for _, w := range ct.words {
		if podtext.IsWindowsPath(w.Text) || podtext.NamesDrive(w.Text) || strings.HasSuffix(strings.ToLower(w.Text), ".exe") {
			return w, true
		}
	}
	return podtext.Word{}, false
}

func podWindowsOptions(p podTemplate) *corev1.WindowsSecurityContextOptions {
	if p.spec.SecurityContext == nil {
		return nil
	}
	return p.spec.SecurityContext.WindowsOptions
}

// hostProcess tells whether a container runs as a HostProcess container: what
// the container says overrides what the pod says.
func hostProcess(p podTemplate, ct *container) (bool, inventory.Evidence) {
	field := []any{"securityContext", "windowsOptions", "hostProcess"}
	if sc := ct.SecurityContext; sc != nil && sc.WindowsOptions != nil && sc.WindowsOptions.HostProcess != nil {
		on := *sc.WindowsOptions.HostProcess
		return on, inventory.Evidence{Where: p.at(below(ct.path, field...)...), Text: fmt.Sprintf("hostProcess: %t", on)}
	}
	if o := podWindowsOptions(p); o != nil && o.HostProcess != nil {
		return *o.HostProcess, p.evidence(fmt.Sprintf("hostProcess: %t", *o.HostProcess), field...)
	}
	return false, inventory.Evidence{}
}

// pipes are the csi-proxy pipes of the pod: those that the driver's container
// mounts, and the others.
func pipes(p podTemplate, ct *container) (mounted, unmounted []inventory.Pipe) {
	for i, v := range p.spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		group, version, ok := podtext.ParsePipe(v.HostPath.Path)
		if !ok {
			continue
		}
		one := inventory.Pipe{Group: group, Version: version, At: p.evidence(v.HostPath.Path, "volumes", i, "hostPath", "path")}
		if mountsPipe(ct.Container, v.Name, one.Name()) {
			mounted = append(mounted, one)
			continue
		}
		one.Container = p.mounting(v.Name)
		unmounted = append(unmounted, one)
	}
	return mounted, unmounted
}

// mountsPipe tells whether a container sees a volume as the pipe that it is on
// the node: inside, a pipe's name is the mountPath's, and a driver dials names
// that are fixed,
// https://github.com/microsoft/hcsshim/blob/main/internal/hcs/schema2/mapped_pipe.go
func mountsPipe(ct *corev1.Container, volume, name string) bool {
	return slices.ContainsFunc(ct.VolumeMounts, func(m corev1.VolumeMount) bool {
		group, version, ok := podtext.ParsePipe(m.MountPath)
		return m.Name == volume && ok && inventory.Pipe{Group: group, Version: version}.Name() == name
	})
}

// mounting is the first container that mounts a volume, wherever to.
func (p podTemplate) mounting(volume string) string {
	for _, ct := range slices.Concat(p.spec.Containers, p.spec.InitContainers) {
		if slices.ContainsFunc(ct.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) {
			return ct.Name
		}
	}
	return ""
}
