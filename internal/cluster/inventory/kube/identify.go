package kube

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

type identity struct {
	provisioner string
	driver      *catalog.Driver // nil: the catalog doesn't know it
	evidence    inventory.Evidence
}

type clue struct {
	folder string
	at     inventory.Evidence
}

// identify follows the order of trust: the kubelet calls the driver what it
// says it is, which a flag for its name decides. Where there is none, the
// registrar's path, what the driver is started with and the folder that is
// mounted usually agree; names of images and of DaemonSets are anybody's
// choice. The reason says why the pod is no driver at all.
func (k known) identify(p podTemplate, cts []container, name string) (id identity, reason string) {
	registered, served := registrations(p, cts), endpoints(p, cts)
	clues := slices.Concat(names(p, cts), registered, served, folders(p))
	named, isNamed := k.byNames(p, cts, name)
	if !hasRegistrar(cts) && !isNamed && len(served) == 0 {
		return identity{}, k.noDriver(p, clues)
	}
	if id, ok := k.byClues(clues); ok {
		return id, ""
	}
	if isNamed {
		return named, ""
	}
	if len(clues) > 0 {
		return identity{provisioner: clues[0].folder, evidence: clues[0].at}, ""
	}
	return identity{}, ""
}

// asImage is the driver that the catalog knows the image as, where that is
// another than the paths say and no flag names the driver: it registers by the
// name that it tells the registrar, wherever its socket is, and a path may have
// been copied with a manifest. https://github.com/kubernetes-csi/node-driver-registrar
func (k known) asImage(id identity, p podTemplate, cts []container) identity {
	ct := k.pickDriver(cts, id.driver)
	if id.driver == nil || ct == nil || len(names(p, cts)) > 0 {
		return id
	}
	if d := k.image(ct.image.Repository); d != nil && d != id.driver {
		return identity{d.Provisioner, d, p.imageAt(ct)}
	}
	return id
}

// byClues takes the first clue that the catalog knows or that reads like a
// provisioner. One that does is one, whatever the image is called: Azure's
// drivers can be deployed twice, under another name.
func (k known) byClues(clues []clue) (identity, bool) {
	for _, c := range clues {
		if d := k.folder(c.folder); d != nil {
			return identity{d.Provisioner, d, c.at}, true
		}
		if podtext.IsDomain(c.folder) {
			return identity{strings.ToLower(c.folder), nil, c.at}, true
		}
	}
	return identity{}, false
}

// noDriver words why a pod isn't taken for a driver's.
func (k known) noDriver(p podTemplate, clues []clue) string {
	if len(clues) > 0 {
		return "it mounts the plugin folder " + clues[0].folder + ", but neither registers a driver nor serves one"
	}
	for _, v := range p.spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		if _, _, ok := podtext.ParsePipe(v.HostPath.Path); ok {
			return "it uses csi-proxy's pipes, but registers no CSI driver"
		}
	}
	return "it registers no CSI driver, and no image of it is a driver's"
}

// byNames goes by the image's path and then by the DaemonSet's name.
func (k known) byNames(p podTemplate, cts []container, name string) (identity, bool) {
	for i := range cts {
		if d := k.image(cts[i].image.Repository); d != nil {
			return identity{d.Provisioner, d, p.imageAt(&cts[i])}, true
		}
	}
	if d := k.daemonSet(name); d != nil {
		at := inventory.Evidence{Where: p.at("metadata", "name"), Text: name}
		return identity{d.Provisioner, d, at}, true
	}
	return identity{}, false
}

func hasRegistrar(cts []container) bool {
	return slices.ContainsFunc(cts, func(ct container) bool { return ct.isRegistrar() })
}

func registrations(p podTemplate, cts []container) []clue {
	var clues []clue
	for i := range cts {
		for _, w := range cts[i].registered() {
			clues = appendClue(clues, p, w)
		}
	}
	return clues
}

// registered are the sockets that a registrar tells the kubelet.
func (ct *container) registered() (words []podtext.Word) {
	if w, ok := podtext.Flag(ct.words, registrationFlag); ok {
		return []podtext.Word{w}
	}
	if !ct.isRegistrar() {
		return nil
	}
	// The registrar's own older name for it, and what manifests hand to a
	// script inside of the image.
	for j, e := range ct.Env {
		if strings.EqualFold(e.Name, "DRIVER_REG_SOCK_PATH") || strings.EqualFold(e.Name, "KUBELET_REGISTRATION_PATH") {
			words = append(words, podtext.Word{Text: podtext.Expand(e.Value, podtext.Environment(ct.Container)), Path: below(ct.path, "env", j, "value")})
		}
	}
	return words
}

// names are the one name that the pod's driver is told to have; none where
// several are told theirs.
func names(p podTemplate, cts []container) []clue {
	var clues []clue
	for i := range cts {
		ct := &cts[i]
		w, ok := podtext.Flag(ct.words, nameFlags...)
		if !ok || !podtext.IsDomain(w.Text) || ct.isSidecar() || ct.isRegistrar() {
			continue
		}
		clues = append(clues, clue{w.Text, inventory.Evidence{Where: p.at(w.Path...), Text: w.Text}})
		if !strings.EqualFold(w.Text, clues[0].folder) {
			return nil
		}
	}
	return clues
}

// endpoints are the names and addresses that the driver is started with.
func endpoints(p podTemplate, cts []container) []clue {
	var clues []clue
	for i := range cts {
		ct := &cts[i]
		if ct.isSidecar() {
			continue
		}
		if w, ok := podtext.Flag(ct.words, nameFlags...); ok && podtext.IsDomain(w.Text) && !ct.isRegistrar() {
			clues = append(clues, clue{w.Text, inventory.Evidence{Where: p.at(w.Path...), Text: w.Text}})
		}
		if w, ok := ct.endpoint(); ok {
			clues = appendClue(clues, p, w)
		}
	}
	return clues
}

func folders(p podTemplate) []clue {
	var clues []clue
	for i, v := range p.spec.Volumes {
		if v.HostPath != nil {
			clues = appendClue(clues, p, podtext.Word{Text: v.HostPath.Path, Path: p.path("volumes", i, "hostPath", "path")})
		}
	}
	return clues
}

func appendClue(clues []clue, p podTemplate, w podtext.Word) []clue {
	folder := podtext.SocketFolder(w.Text)
	if folder == "" || podtext.IsTemplate(folder) {
		return clues
	}
	return append(clues, clue{folder, inventory.Evidence{Where: p.at(w.Path...), Text: w.Text}})
}

func (k known) named(name string, names func(*catalog.Driver) []string) (found *catalog.Driver) {
	for i := range k.Drivers {
		d := &k.Drivers[i]
		if !slices.ContainsFunc(names(d), func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = d
	}
	return found
}

// folder finds a driver by its folder below the kubelet's plugins. Windows
// paths don't mind the case.
func (k known) folder(name string) *catalog.Driver {
	if d := k.ByProvisioner(name); d != nil {
		return d
	}
	return k.named(name, func(d *catalog.Driver) []string { return d.Folders })
}

// image finds a driver by the end of a repository's path: a mirror keeps it
// (WMCO's README demands it of one).
func (k known) image(repository string) *catalog.Driver {
	for rest := repository; rest != ""; _, rest, _ = strings.Cut(rest, "/") {
		if d := k.named(rest, func(d *catalog.Driver) []string { return d.Images }); d != nil {
			return d
		}
	}
	return nil
}

func (k known) daemonSet(name string) *catalog.Driver {
	return k.named(name, func(d *catalog.Driver) []string { return d.DaemonSets })
}
