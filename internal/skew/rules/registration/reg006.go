package registration

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var reg006 = rules.Rule{ID: "REG006", Needs: rules.NeedsDrivers, Driver: disagreeing, Starts: true, At: rules.AtNow}

var (
	drive = regexp.MustCompile(`^[A-Za-z]:`)
	// ofUnix are folders that Windows nodes don't have.
	ofUnix = regexp.MustCompile(`^c:/(dev|sys|proc|run|lib|lib64|usr|boot|bin|sbin|mnt)(/|$)`)
	// made are the folders that the kubelet makes when it starts:
	// https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/kubelet/kubelet.go#L1462
	made = regexp.MustCompile(`^` + inventory.KubeletRoot + `(/(pods|plugins|plugins_registry|pod-resources|device-plugins))?$`)
)

// disagreeing is REG006: places in one DaemonSet that have to be the same on the node,
// and aren't.
func disagreeing(v *snapshot.View, report rules.Report) {
	if v.FollowsLinux() || v.Catalog == nil || v.DaemonSet.Partial != "" {
		return
	}
	p := v.DaemonSet.Paths
	fixed := *v.DaemonSet
	fixed.Paths = inventory.Paths{}
	say := func(c string, one, other *inventory.Path, text string) {
		f := rules.Finding{Case: c, Same: c + one.Text, Facts: rules.Facts{"one": one, "other": other, "root": `C:\var\lib\kubelet`}, Evidence: []inventory.Evidence{one.At}}
		if other != nil {
			f.Evidence = append(f.Evidence, other.At)
		}
		f.Do = []action.Action{action.ByHand{Object: fixed.Object.String(), Text: "in " + fixed.Object.String() + " " + text, Becomes: &fixed, Save: &fixed.Object}}
		report(f)
	}
	switch r, e := p.Registered, p.Endpoint; {
	case r == nil:
	case !drive.MatchString(r.Text):
		say("no drive", r, nil, "write the registrar's path with its drive, C:"+strings.ReplaceAll(r.Text, `\\`, `\`))
	case e != nil && e.Node != r.Node:
		say("other socket", e, r, "have the driver's socket, "+e.Text+", and the path that the registrar tells the kubelet, "+r.Text+", be one file of the node")
	}
	if a, e := p.Address, p.Endpoint; a != nil && e != nil && a.Node != e.Node {
		say("other address", a, e, "give the registrar the driver's socket: --csi-address is "+a.Text+", the driver has "+e.Text)
	}
	if r := p.Registry; r != nil && r.Node != inventory.KubeletRoot+"/plugins_registry" {
		say("other registry", r, nil, `mount C:\var\lib\kubelet\plugins_registry at the folder that the registrar uses, `+r.Text)
	}
	if r := p.Root; r != nil && r.Node != inventory.KubeletRoot {
		say("other root", r, nil, `mount C:\var\lib\kubelet there, the kubelet's own folder`)
	}
	for _, n := range p.Needed {
		switch {
		case ofUnix.MatchString(n.Node):
			say("folder of Linux", &n, nil, "take the volume "+n.Text+" out")
		case strings.HasPrefix(n.Node, inventory.KubeletRoot) && !made.MatchString(n.Node):
			say("folder of nobody", &n, nil, "give the hostPath "+n.Text+" the type DirectoryOrCreate")
		}
	}
}
