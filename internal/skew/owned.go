package skew

import (
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// owned has the owner of a DaemonSet make the changes of it, where it has one.
func (x *index) owned(list []action.Action) []action.Action {
	var out []action.Action
	for _, a := range list {
		var o inventory.Object
		switch a := a.(type) {
		case action.SetImage:
			o = a.Object
		case action.ReplaceDriver:
			o = a.Object
		case action.EditDriver:
			o = a.Object
		case action.DeleteDaemonSet:
			o = a.Object
		}
		if by := x.ownerOf(o); by != nil {
			a = action.ByOwner{Owner: *by, Change: a}
		}
		out = append(out, a)
	}
	return out
}

// ownerOf is the first owner of a DaemonSet, whose source decides; nil for none.
// A DaemonSet that carries the marks of OpenShift's operators by mistake has
// none: it is the admin's own.
func (x *index) ownerOf(o inventory.Object) *inventory.Owner {
	for i := range x.inv.Drivers {
		if d := &x.inv.Drivers[i]; d.Object == o && !d.OperatorManaged && len(d.Owners) > 0 {
			return &d.Owners[0]
		}
	}
	return nil
}
