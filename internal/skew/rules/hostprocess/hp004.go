package hostprocess

import (
	"strings"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var hp004 = rules.Rule{ID: "HP004", Needs: rules.NeedsDrivers, Driver: hostProcessImage, Lacks: true, Starts: true}

func hostProcessImage(v *snapshot.View, report rules.Report) {
	if v.DaemonSet.HostProcess && v.Line != nil && v.Line.HostProcess == catalog.HostProcessNone {
		windows, _ := v.Windows()
		place, _ := remedy.ManifestOf(v.Catalog, false, windows)
		report(rules.Finding{Case: "unsupported", Facts: rules.Facts{"windows": windows, "place": place}, Evidence: v.Evidence()})
		return
	}
	suffixed := v.LineWith(func(l *catalog.Line) bool { return l.ImageSuffix != "" })
	if suffixed == nil || v.DaemonSet.Image.Tag == "" || v.FollowsLinux() {
		return
	}
	windows, _ := v.Windows()
	suffix, tag := "-"+suffixed.ImageSuffix, v.DaemonSet.Image.Tag
	d := rules.Finding{Facts: rules.Facts{"tag": tag}, Evidence: v.Evidence()}
	switch has := strings.HasSuffix(tag, suffix); {
	case has && !v.DaemonSet.HostProcess:
		d.Case, d.Expected = "image of another pod", strings.TrimSuffix(tag, suffix)
	case !has && v.DaemonSet.HostProcess && v.Line != nil && v.Line.ImageSuffix != "":
		d.Case, d.Expected = "plain image", tag+suffix
	default:
		return
	}
	d.Do = remedy.Retag(v, v.DaemonSet.HostProcess, windows, d.Expected)
	report(d)
}
