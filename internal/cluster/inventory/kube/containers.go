package kube

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// registrationFlag is node-driver-registrar's; it names the socket that the
// kubelet will use: https://github.com/kubernetes-csi/node-driver-registrar
const registrationFlag = "kubelet-registration-path"

func (ct *container) isRegistrar() bool {
	_, given := podtext.Flag(ct.words, registrationFlag)
	return given || ct.namedRegistrar()
}

func (ct *container) namedRegistrar() bool {
	return strings.Contains(podtext.LastElement(ct.image.Repository), "driver-registrar") || strings.Contains(strings.ToLower(ct.Name), "driver-registrar")
}

// besideDriver tells a registrar that is no driver. One that is alone in its
// pod and isn't called a registrar may be a driver that registers itself.
func (ct *container) besideDriver(cts []container) bool {
	return ct.namedRegistrar() || ct.isRegistrar() && len(cts) > 1
}

// sidecars are parts of the last element of images that run next to a driver and
// are none. The names are those of https://kubernetes-csi.github.io/docs.
var sidecars = []string{
	"livenessprobe", "liveness-probe", "csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter",
	"snapshot-controller", "external-attacher", "external-provisioner", "external-resizer", "external-snapshotter",
	"external-health-monitor", "kube-rbac-proxy", "csi-proxy", "syncer", "csi-addons", "/pause",
}

// isSidecar tells whether a container surely isn't the driver.
func (ct *container) isSidecar() bool {
	image, name := "/"+podtext.LastElement(ct.image.Repository), strings.ToLower(ct.Name)
	for _, s := range sidecars {
		if strings.Contains(image, s) || name == strings.TrimPrefix(s, "/") {
			return true
		}
	}
	_, probe := podtext.Flag(ct.words, "health-port", "probe-timeout")
	_, csi := podtext.Flag(ct.words, "csi-address")
	return probe && csi
}

var nameFlags = []string{"drivername", "driver-name", "csi-name"}

// noContainer is why no container was picked.
func noContainer(cts []container) string {
	for i := range cts {
		if ct := &cts[i]; !ct.besideDriver(cts) && !ct.isSidecar() {
			return "which of the containers runs the driver can't be told"
		}
	}
	return "none of its containers runs the driver, there are only sidecars"
}

// pickDriver chooses the container that runs the driver d (nil where that
// isn't known yet), nil where nothing tells several apart.
func (k known) pickDriver(cts []container, d *catalog.Driver) *container {
	var best *container
	score, tie := -1, false
	for i := range cts {
		ct := &cts[i]
		if ct.besideDriver(cts) || ct.isSidecar() {
			continue
		}
		switch s := k.likeness(ct, d); {
		case s > score:
			best, score, tie = ct, s, false
		case s == score && !alike(ct, best):
			tie = true
		}
	}
	if tie {
		return nil
	}
	return best
}

// alike tells whether it doesn't matter which of two containers is read.
func alike(a, b *container) bool {
	return a.Image == b.Image && reflect.DeepEqual(a.VolumeMounts, b.VolumeMounts) && reflect.DeepEqual(a.SecurityContext, b.SecurityContext)
}

func (k known) likeness(ct *container, d *catalog.Driver) int {
	score := 0
	if found := k.image(ct.image.Repository); found != nil && (d == nil || found == d) {
		score += 8
	}
	if d != nil && slices.ContainsFunc(d.Containers, func(n string) bool { return strings.EqualFold(n, ct.Name) }) {
		score += 8
	}
	if _, serves := ct.endpoint(); serves {
		score += 4
	}
	return score
}

// The values of VersionFact.By.
const (
	byTag     = "tag"
	byDigests = "digest-map"
	byUser    = "user"
	byRunning = "running-image"
	byLog     = "log"
)

// versionOf tells what version an image is, or why that can't be told. What
// the user says goes first, then a digest that is known: a tag next to a digest
// isn't even looked at by the kubelet.
func (c *Collector) versionOf(img inventory.Image, bad error, at inventory.Evidence) inventory.VersionFact {
	fact := inventory.VersionFact{At: at}
	if c.mapped(&fact, img) {
		return fact
	}
	switch {
	case bad != nil && errors.Is(bad, podtext.ErrTemplate):
		fact.Reason = "the image is a template that wasn't rendered"
	case bad != nil:
		fact.Reason = bad.Error()
	case img.Tag == "" && img.Digest == "":
		fact.Reason = "the image has no tag: that is latest, which moves"
	case img.Tag == "":
		fact.Reason = "the image is named by digest only, and nothing tells which version that is"
	default:
		d, err := version.ParseDriver(img.Tag)
		if err != nil {
			fact.Reason = "tag " + reason(err)
			return fact
		}
		if version.Floats(img.Tag) && img.Digest == "" {
			fact.Reason = "tag " + img.Tag + " floats: it names the newest patch of that minor"
			return fact
		}
		fact.Version, fact.Known, fact.By = d, true, byTag
	}
	return fact
}

func reason(err error) string {
	if u, ok := errors.AsType[*version.Unreadable](err); ok {
		return u.Tag + ": " + u.Reason
	}
	return err.Error()
}

// mapped looks an image up with the user and among the known digests.
func (c *Collector) mapped(fact *inventory.VersionFact, img inventory.Image) bool {
	for _, key := range []string{img.Reference, img.Digest, img.Repository} {
		text, ok := c.images[key]
		if !ok || key == "" {
			continue
		}
		text, commit, _ := strings.Cut(text, "@")
		d, err := version.ParseDriver(text)
		if err != nil {
			fact.Reason = "the version given for " + printable.Clip(key) + ", " + reason(err)
			return true
		}
		fact.Version, fact.Known, fact.By, fact.Commit = d, true, byUser, commit
		return true
	}
	known, ok := c.known.ByDigest(img.Digest)
	if !ok {
		return false
	}
	d, err := version.ParseDriver(known.Version)
	if err != nil {
		return false
	}
	d.Variant = known.Variant
	fact.Version, fact.Known, fact.By = d, true, byDigests
	return true
}
