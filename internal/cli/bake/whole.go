package bake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/pins"
)

// whole names, in one line, the files that the operator demands and a payload
// without a base doesn't have. With --only a part of it is what was asked for.
func (t *tool) whole(o payloadOptions, file *pins.File) error {
	if o.base != "" || file.Base != "" || len(o.only) > 0 {
		return nil
	}
	known, err := (&catalogflag.Flag{}).Load(t.App)
	if err != nil {
		return err
	}
	message, demanded := "", known.PayloadFiles(file.Release)
	if demanded == nil {
		message = "what the operator of OpenShift " + file.Release + " demands isn't known, so this payload wasn't held to it"
	} else if missing := lacks(file, demanded); len(missing) > 0 {
		message = fmt.Sprintf("this isn't a whole operator's payload: %d of the %d files that the operator of OpenShift %s demands are missing (%s); examples/wmco pins them, and with --base the operator's own stay",
			len(missing), len(demanded), file.Release, strings.Join(missing, ", "))
	}
	if message != "" {
		t.Console.Emit(event.Event{Object: "payload", Phase: event.Pack, State: event.Note, Message: message})
	}
	return nil
}

func lacks(file *pins.File, demanded []catalog.PayloadFile) (missing []string) {
	for _, f := range demanded {
		if !slices.ContainsFunc(file.Components, func(c pins.Component) bool { return c.Payload == f.Path }) {
			missing = append(missing, f.Path)
		}
	}
	return missing
}
