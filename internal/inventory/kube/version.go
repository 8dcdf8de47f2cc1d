package kube

import (
	"errors"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

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
		d, err := version.ParseDriver(text)
		if err != nil {
			fact.Reason = "the version given for " + printable.Clip(key) + ", " + reason(err)
			return true
		}
		fact.Version, fact.Known, fact.By = d, true, byUser
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
