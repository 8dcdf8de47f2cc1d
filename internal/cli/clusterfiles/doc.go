// Package clusterfiles has the commands of bake that write objects for a cluster
// and need no pins: a CSI driver's Windows part, and the precheck.
package clusterfiles

import (
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
)

type tool struct{ *app.App }

func (t *tool) warn(object, message string) {
	t.Tell(object, event.Write, event.Warning, message)
}
