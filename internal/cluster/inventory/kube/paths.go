package kube

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// paths are what a driver's container and its registrar call sockets and folders.
func paths(p podTemplate, cts []container, driver *container) (out inventory.Paths) {
	if w, ok := driver.endpoint(); ok {
		out.Endpoint = p.socket(driver, w)
	}
	if i := slices.IndexFunc(cts, func(ct container) bool { return ct.besideDriver(cts) }); i >= 0 {
		ct := &cts[i]
		if w, ok := podtext.Flag(ct.words, "csi-address"); ok {
			out.Address = p.socket(ct, w)
		}
		if all := ct.registered(); len(all) == 1 && !podtext.IsTemplate(all[0].Text) {
			out.Registered = &inventory.Path{Text: all[0].Text, Node: plain(all[0].Text), At: inventory.Evidence{Where: p.at(all[0].Path...), Text: all[0].Text}}
		}
		// https://github.com/kubernetes-csi/node-driver-registrar#optional-arguments
		w, given := podtext.Flag(ct.words, "plugin-registration-path")
		if !given {
			w = podtext.Word{Text: "/registration", Path: ct.path}
		}
		if !podtext.IsTemplate(w.Text) && (given || len(ct.VolumeMounts) > 0) {
			out.Registry = p.onNode(ct, w, w.Text)
		}
	}
	for j, m := range driver.VolumeMounts {
		if root := p.onNode(driver, podtext.Word{Text: m.MountPath, Path: below(driver.path, "volumeMounts", j)}, m.MountPath); plain(m.MountPath) == inventory.KubeletRoot && root.Node != "" {
			out.Root = root
		}
	}
	for i, v := range p.spec.Volumes {
		if v.HostPath == nil || v.HostPath.Type == nil || *v.HostPath.Type != corev1.HostPathDirectory && *v.HostPath.Type != corev1.HostPathFile {
			continue
		}
		out.Needed = append(out.Needed, inventory.Path{Text: v.HostPath.Path, Node: plain(v.HostPath.Path), At: p.evidence(v.HostPath.Path+", "+string(*v.HostPath.Type), "volumes", i, "hostPath", "path")})
	}
	return out
}

// socket is the address of a Unix socket; nil for another one, and for what is put in
// elsewhere.
func (p podTemplate) socket(ct *container, w podtext.Word) *inventory.Path {
	w.Text = podtext.Expand(w.Text, podtext.Environment(ct.Container))
	path, isURL := strings.CutPrefix(w.Text, "unix:")
	if podtext.IsTemplate(path) || !isURL && (strings.Contains(path, ":/") && !podtext.NamesDrive(path) || !strings.ContainsAny(path, `\/`)) || strings.Contains(podtext.Slashed(path), "/./pipe/") {
		return nil
	}
	return p.onNode(ct, w, path)
}

// onNode is a container's path on the node: through the volume that it is below, and
// in a HostProcess container without one as it is.
func (p podTemplate) onNode(ct *container, w podtext.Word, path string) *inventory.Path {
	out := &inventory.Path{Text: w.Text, At: inventory.Evidence{Where: p.at(w.Path...), Text: w.Text}}
	path = plain(path)
	hp, _ := hostProcess(p, ct)
	switch {
	case hp:
		out.Node = path
	case len(ct.VolumeMounts) == 0:
		return nil // an excerpt: a container without any mount is nobody's node plugin
	}
	best := -1
	for _, m := range ct.VolumeMounts {
		inside := plain(m.MountPath)
		i := slices.IndexFunc(p.spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name && v.HostPath != nil })
		rest, below := strings.CutPrefix(path, inside)
		if !below || rest != "" && rest[0] != '/' || len(inside) <= best || hp && i < 0 {
			continue
		}
		if best, out.Node, out.Mount = len(inside), "", ""; i >= 0 {
			if out.Node = plain(p.spec.Volumes[i].HostPath.Path) + rest; out.Node != path {
				out.Mount = m.MountPath
			}
		}
	}
	return out
}

// plain writes a path as paths compare: Windows doesn't mind the case, and one without
// a drive is on C.
func plain(path string) string {
	path = strings.ToLower(strings.Trim(podtext.Slashed(path), "/"))
	if len(path) > 1 && path[1] == ':' {
		return path
	}
	return "c:/" + path
}
