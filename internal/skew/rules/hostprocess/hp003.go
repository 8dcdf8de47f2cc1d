package hostprocess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var hp003 = rules.Rule{ID: "HP003", Needs: rules.NeedsDrivers, Driver: hostProcessFlag, Lacks: true, Starts: true}

func hostProcessFlag(v *snapshot.View, report rules.Report) {
	given := v.DaemonSet.HostProcessFlag
	set := given != nil && *given
	flag, since := "", ""
	if flagged := v.LineWith(func(l *catalog.Line) bool { return l.Flag != "" }); flagged != nil {
		flag, since = flagged.Flag, flagged.From
	}
	d := rules.Finding{Facts: rules.Facts{"flag": flag, "since": since}, Evidence: slices.Concat(v.Evidence(), v.DaemonSet.Evidence)}
	container, object := remedy.Container(v.DaemonSet), v.DaemonSet.Object
	yes := true
	switch {
	case v.FollowsLinux():
		return
	case len(v.DaemonSet.ForeignFlags) > 0:
		foreignFlag(v, &d)
	case flag == "":
		return
	case v.DaemonSet.HostProcessFlagReason != "" && v.Line != nil && v.Line.Flag == "":
		d.Case, d.Do = "unread and not known", edit(v, nil, action.Flags{Drop: []string{flag}}, "remove the argument from container %s of %s", container, object)
	case v.DaemonSet.HostProcessFlagReason != "":
		value := fmt.Sprintf("%s=%t", flag, v.DaemonSet.HostProcess)
		d.Case, d.Facts["value"] = "unread", value
		d.Do = edit(v, &v.DaemonSet.HostProcess, action.Flags{Drop: []string{flag}, Give: value}, "write the value itself into the arguments of container %s of %s", container, object)
	case set && !v.DaemonSet.HostProcess:
		d.Case, d.Do = "with another pod", edit(v, nil, action.Flags{Drop: []string{flag}}, "remove %s from %s, or apply the project's HostProcess manifest whole", flag, object)
	case given != nil && v.Line != nil && v.Line.Flag == "":
		d.Case, d.Do = "not known", edit(v, nil, action.Flags{Drop: []string{flag}}, "remove %s from %s, or deploy a version from %s on", flag, object, since)
	case !v.DaemonSet.HostProcess || set && v.Line != nil:
		return
	case v.Line == nil:
		d.Case, d.Facts["key"] = "unknown version", rules.ImageKey(v)
	case v.Line.Flag != "":
		d.Case = "missing"
		d.Do = edit(v, &yes, action.Flags{Drop: []string{flag}, Give: flag + "=true"}, "add %s=true to the arguments of container %s of %s", flag, container, object)
	default:
		return
	}
	report(d)
}

// foreignFlag tells of a flag for HostProcess that only other drivers have.
func foreignFlag(v *snapshot.View, d *rules.Finding) {
	flags, given := strings.Join(v.DaemonSet.ForeignFlags, " and "), true
	d.Case, d.Facts["flags"] = "another driver's", flags
	d.Do = edit(v, v.DaemonSet.HostProcessFlag, action.Flags{Drop: v.DaemonSet.ForeignFlags}, "remove %s from %s", flags, v.DaemonSet.Object)
	lacks := v.DaemonSet.HostProcess && v.Line != nil && (v.DaemonSet.HostProcessFlag == nil || !*v.DaemonSet.HostProcessFlag)
	if lacks && v.Line.Flag != "" {
		own := v.Line.Flag + "=true"
		d.Expected = own
		d.Do = edit(v, &given, action.Flags{Drop: append(slices.Clone(v.DaemonSet.ForeignFlags), v.Line.Flag), Give: own}, "give container %s of %s %s instead of %s", remedy.Container(v.DaemonSet), v.DaemonSet.Object, own, flags)
	}
}

// edit changes the driver's arguments; given is what its HostProcess flag is then.
func edit(v *snapshot.View, given *bool, flags action.Flags, format string, args ...any) []action.Action {
	becomes := *v.DaemonSet
	becomes.HostProcessFlag, becomes.HostProcessFlagReason, becomes.ForeignFlags = given, "", nil
	flags.Container, flags.Call = v.DaemonSet.Container, v.DaemonSet.Call
	text := fmt.Sprintf(format, args...)
	if remedy.InFile(v) || !flags.Known() {
		return []action.Action{action.ByHand{Text: text, Object: v.DaemonSet.Object.String(), Becomes: &becomes}}
	}
	return []action.Action{action.EditDriver{Object: v.DaemonSet.Object, Text: text, Flags: &flags, Strategy: v.DaemonSet.Strategy, Becomes: &becomes}}
}
