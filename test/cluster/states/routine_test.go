package states

import (
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

// routine are the updates of clusters where nothing is wrong: each driver at the version of
// its release, from each release to the next.
func routine(t *testing.T) (list []dimension) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	hp := func(tag string) string { return tag + "-windows-hp" }
	order := minors[2:] // from 4.14 on
	for _, p := range []struct {
		name, platform string
		deploy         func(tag string, release int) driver
	}{
		{"vsphere", "VSphere", func(tag string, release int) driver {
			if release >= 6 {
				return vsphereHost(tag)
			}
			return vsphere(tag)
		}},
		{"azure-disk", "Azure", func(tag string, release int) driver {
			if release >= 4 {
				return azureDiskHost(hp(tag))
			}
			return azureDisk(tag)
		}},
		{"azure-file", "Azure", func(tag string, release int) driver {
			if release >= 4 {
				return azureFileHost(hp(tag))
			}
			return azureFile(tag)
		}},
		{"aws-ebs", "AWS", func(tag string, _ int) driver { return ebs(tag) }},
		{"gcp-pd", "GCP", func(tag string, _ int) driver { return gcp(":" + tag) }},
		{"smb", "None", func(tag string, release int) driver {
			if release >= 5 {
				return smbHost(hp(tag), tolerating(everything))
			}
			return adjusted(smbPipes(tag), []option{tolerating(everything)})
		}},
	} {
		for i, minor := range order[:len(order)-1] {
			release, err := version.ParseOpenShift(minor + ".20")
			if err != nil {
				t.Fatal(err)
			}
			ships := known.Ships(release, p.name)
			if len(ships) != 1 || ships[0].Version == "" {
				continue // nobody knows it well enough
			}
			d := p.deploy("v"+ships[0].Version, i)
			mods := []mod{uses(d.provisioner), with(d)}
			if p.name == "gcp-pd" {
				mods = append(mods, namespace(d.namespace, enforces("privileged")))
			}
			if p.name == "smb" {
				mods = append(mods, func(c *cluster) { c.linux = append(c.linux, operated("smb-csi-driver-node", smbName)) })
			}
			list = append(list, dimension{name: p.name + ", " + minor + " to " + order[i+1], cluster: openshift(minor+".20", p.platform, mods...), to: order[i+1], verdict: pass})
		}
	}
	return list
}

// loud are the routine updates that ask for something: how loud, by which rule, and why.
var loud = map[string]struct {
	verdict    finding.Severity
	rules, why string
}{
	"vsphere, 4.14 to 4.15": {warn, "NODE003", "3.0.2's image is gone: a pod on a new node doesn't start"},
	"vsphere, 4.15 to 4.16": {warn, "NODE003", "3.0.2's image is gone: a pod on a new node doesn't start"},
	"vsphere, 4.19 to 4.20": {warn, "HP005", "from pipes to HostProcess: a new tag alone isn't enough"},
	"smb, 4.22 to 5.0":      {unknown, "SKEW005", "OperatorHub has no version for 5.0 yet"},
}

// TestRoutine: an update of a cluster where nothing is wrong asks for nothing before it.
func TestRoutine(t *testing.T) {
	t.Parallel()
	list := routine(t)
	for _, d := range list {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			if l, is := loud[d.name]; is {
				d.verdict, d.rules = l.verdict, l.rules
			}
			d.check(t, judge(t, d.asked(t)))
		})
	}
	t.Logf("%d updates, %d of them ask for something", len(list), len(loud))
	for name := range loud {
		if !slices.ContainsFunc(list, func(d dimension) bool { return d.name == name }) {
			t.Errorf("there is no update %q", name)
		}
	}
}
