package snapshot

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// linuxAt finds the Linux side of a driver at a release. current: the release
// is the one that the cluster runs, so its own DaemonSet counts.
func (snap *Snapshot) linuxAt(d *inventory.Driver, release version.OpenShift, current bool) Linux {
	cat := snap.LineOf(d)
	ds := snap.linuxDaemonSet(d.Provisioner)
	own := ds != nil && !ds.OperatorManaged
	if rival := snap.rival(cat, ds); rival != nil {
		if l := snap.eitherSide(cat, rival, release); l.Rival != nil {
			return l
		}
	}
	if own || cat == nil || cat.OLM || snap.Inventory.Cluster.Other != "" || ds == nil && !snap.here(cat) {
		l := snap.fixedSide(cat, ds, release)
		l.Fixed, l.Driver = true, ds
		return l
	}
	l := Linux{}
	if current && ds != nil {
		l = snap.byDaemonSet(cat, ds)
	}
	if !l.Known() {
		l = snap.byRelease(cat, release)
	}
	l.Driver = ds
	return l
}

// rival is a Linux DaemonSet of an admin's own that may run beside OpenShift's, or be
// no more than a file; nil for none. One that runs, and no operator's does, is none:
// the operator is switched off (Unmanaged or Removed).
func (snap *Snapshot) rival(cat *catalog.Driver, ds *inventory.Driver) *inventory.Driver {
	if ds == nil || cat == nil || !snap.here(cat) || cat.Payload == "" || cat.OLM {
		return nil
	}
	return First(snap.linux[ds.Provisioner], func(d *inventory.Driver) bool {
		runs := d.Rollout != nil && d.Rollout.Desired > 0
		return !d.OperatorManaged && (runs && ds.OperatorManaged || d.Rollout == nil && d == ds)
	})
}

// here tells whether the cluster may be on the platform that a driver is of.
func (snap *Snapshot) here(cat *catalog.Driver) bool {
	platform := snap.Inventory.Cluster.Platform
	return cat.Platform == "" || platform == "" || cat.Platform == platform
}

// eitherSide is the Linux side of which it isn't known whether OpenShift brings
// it or the admin does: it has the versions of both. It has no Rival where the
// release brings none, or where the DaemonSet's version isn't known.
func (snap *Snapshot) eitherSide(cat *catalog.Driver, ds *inventory.Driver, release version.OpenShift) Linux {
	own, l := snap.byDaemonSet(cat, ds), snap.byRelease(cat, release)
	if !own.Known() || release.IsZero() || !l.Known() && len(snap.Catalog.Ships(release, cat.Name)) == 0 {
		return Linux{}
	}
	l.Driver, l.Rival = ds, ds
	if l.Known() {
		l.Candidates = slices.Concat(own.Candidates, slices.DeleteFunc(l.Candidates, func(c candidate) bool {
			return c.Version.Compare(own.Candidates[0].Version) == 0
		}))
	}
	return l
}

// linuxDaemonSet is the Linux DaemonSet of a provisioner; an operator's wins
// over an admin's.
func (snap *Snapshot) linuxDaemonSet(provisioner string) *inventory.Driver {
	var found *inventory.Driver
	for _, d := range snap.linux[provisioner] {
		if found == nil || d.OperatorManaged && !found.OperatorManaged {
			found = d
		}
	}
	return found
}

// fixedSide is a Linux driver that OpenShift's release doesn't bring.
func (snap *Snapshot) fixedSide(cat *catalog.Driver, ds *inventory.Driver, release version.OpenShift) Linux {
	if ds != nil {
		if l := snap.byDaemonSet(cat, ds); l.Known() {
			return l
		}
	}
	if cat != nil && cat.OLM && (ds == nil || ds.OperatorManaged) {
		l := snap.byRows(cat, release)
		if !l.Known() && ds == nil {
			l.Reason = "no Linux DaemonSet of it was read, and nothing tells which version an operator brings"
		}
		return l
	}
	switch {
	case ds == nil:
		return Linux{Reason: "no Linux DaemonSet of it was read, and OpenShift brings none here"}
	case ds.Version.Reason != "":
		return Linux{Reason: ds.Object.String() + ": " + ds.Version.Reason}
	}
	return Linux{Reason: ds.Object.String() + " has an image whose version isn't known"}
}

// byDaemonSet goes by what the cluster's own Linux DaemonSet runs.
func (snap *Snapshot) byDaemonSet(cat *catalog.Driver, ds *inventory.Driver) Linux {
	one := func(v version.Driver, by string) Linux {
		return Linux{Candidates: []candidate{{v, catalog.Exact, by, []inventory.Evidence{ds.Version.At}, "", ds.Version.Commit}}}
	}
	if ds.Version.Known && ds.Version.By == "user" {
		return one(ds.Version.Version, "user")
	}
	if cat != nil && ds.Image.Digest != "" {
		for _, p := range Pointers(snap.Inventory.Payloads) {
			if l := snap.byTags(cat, p, ds.Image.Digest); l.Known() {
				return l
			}
		}
		if known, ok := snap.Catalog.ByDigest(ds.Image.Digest); ok {
			return one(CatalogVersion(known.Version), "digest")
		}
	}
	if ds.Version.Known {
		return one(ds.Version.Version, ds.Version.By)
	}
	return Linux{}
}

// byRelease goes by a release: its payload where that was read, otherwise the
// catalog's rows.
func (snap *Snapshot) byRelease(cat *catalog.Driver, release version.OpenShift) Linux {
	if p := snap.Payload(release); p != nil && !release.IsZero() {
		if l := snap.byTags(cat, p, ""); l.Known() {
			return l
		}
	}
	return snap.byRows(cat, release)
}

// byTags goes by a payload's images of the driver, of a digest or of any.
func (snap *Snapshot) byTags(cat *catalog.Driver, p *inventory.Payload, digest string) Linux {
	for _, tag := range Pointers(p.Tags) {
		if tag.Name == cat.Payload && (digest == "" || tag.Image.Digest == digest) {
			if l := snap.byTag(cat, p, tag); l.Known() {
				return l
			}
		}
	}
	return Linux{}
}

// byTag goes by one image of a payload: its source commit, then its digest.
func (snap *Snapshot) byTag(cat *catalog.Driver, p *inventory.Payload, tag *inventory.PayloadTag) Linux {
	at := inventory.Evidence{Where: p.At.Where, Text: tag.Name}
	text, by := "", ""
	if known, ok := snap.Catalog.ByCommit(cat.Name, tag.Commit); ok {
		text, by, at.Text = known.Version, "commit", tag.Name+" "+tag.Commit
	} else if known, ok := snap.Catalog.ByDigest(tag.Image.Digest); ok {
		text, by, at.Text = known.Version, "digest", tag.Name+" "+tag.Image.Digest
	} else {
		return Linux{}
	}
	return Linux{Candidates: []candidate{{CatalogVersion(text), catalog.Exact, by, []inventory.Evidence{at}, "", tag.Commit}}}
}

func (snap *Snapshot) byRows(cat *catalog.Driver, release version.OpenShift) Linux {
	if release.IsZero() {
		return Linux{Reason: "it isn't known which OpenShift release this is"}
	}
	if snap.Catalog.Release(release.MinorString()) == nil {
		return Linux{Reason: fmt.Sprintf("the catalog (of %s) doesn't know OpenShift %s", snap.Catalog.AsOf, release.MinorString())}
	}
	if safe, risky := Offered(&snap.Inventory.Cluster, release); release.Patch < 0 {
		// The plan takes this patch.
		release = cmp.Or(safe, risky, release)
	}
	rows := snap.Catalog.Ships(release, cat.Name)
	if len(rows) == 0 {
		return Linux{Reason: fmt.Sprintf("OpenShift %s ships no %s", release.MinorString(), cat.Title)}
	}
	var l Linux
	for i := range rows {
		v, err := version.ParseDriver(rows[i].Version)
		if err != nil {
			// A row without a version may be anything: what the others say isn't
			// all that may hold.
			return Linux{Reason: fmt.Sprintf("the catalog doesn't know which %s OpenShift %s ships", cat.Title, release)}
		}
		by := "default"
		if rows[i].FromZ != nil || rows[i].UntilZ != nil {
			by = "range"
		}
		at := []inventory.Evidence{{Where: "catalog, OpenShift " + release.MinorString(), Text: rows[i].Version}}
		for _, e := range rows[i].Evidence {
			at = append(at, inventory.Evidence{Where: e.Source})
		}
		l.Candidates = append(l.Candidates, candidate{v, rows[i].Certainty, by, at, rows[i].Head, ""})
	}
	return l
}

// forward takes those versions off the target that the release had before the
// one that it has now: inside a minor a driver moves along the catalog's rows,
// and never back. Near a rebase the target's patch alone doesn't say that much.
func (snap *Snapshot) forward(d *inventory.Driver, now *Linux, target Linux) Linux {
	have, certain := now.Certain()
	if cat := snap.LineOf(d); cat != nil && certain && len(target.Candidates) > 1 && snap.From.CompareMinor(snap.To) == 0 {
		rows := snap.Catalog.Release(snap.To.MinorString()).Drivers[cat.Name]
		at := slices.IndexFunc(rows, func(r catalog.Shipped) bool { return rowIs(r, have) })
		target.Candidates = slices.DeleteFunc(target.Candidates, func(c candidate) bool {
			return at > 0 && !slices.ContainsFunc(rows[at:], func(r catalog.Shipped) bool { return rowIs(r, c.Version) })
		})
	}
	return target
}

func rowIs(r catalog.Shipped, v version.Driver) bool {
	return r.Version != "" && CatalogVersion(r.Version).Compare(v) == 0
}
