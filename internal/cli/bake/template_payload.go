package bake

import (
	"context"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/shell"
	"github.com/winbake/winbake/packer/template"
	"github.com/winbake/winbake/payload"
)

// findPayload opens the payload, so that a tag, an absent image or one of
// another release is an error now and not after an hour of building.
func (t *tool) findPayload(ctx context.Context, o templateOptions) (template.Payload, error) {
	if o.payload == "" || o.payload == noPayload {
		return template.Payload{}, nil
	}
	source, err := ociimage.Load(ctx, o.payload, t.load(o.registry))
	if err != nil {
		return template.Payload{}, err
	}
	defer source.Close() //nolint:errcheck // it was only read
	switch {
	case source.Kind == ociimage.KindDir:
		return template.Payload{}, &fault.Error{Where: o.payload, What: "a folder of files has no digest that a build could be held to", Fix: "bake payload --layout DIR, and give that layout"}
	case source.Kind == ociimage.KindRegistry && !strings.Contains(o.payload, "@sha256:"):
		return template.Payload{}, &fault.Error{Where: o.payload, What: "a tag may be another image tomorrow", Fix: "--payload " + shell.Word(source.Reference())}
	}
	if err := t.checkRelease(o, source); err != nil {
		return template.Payload{}, err
	}
	reference := source.Ref
	if source.Kind == ociimage.KindRegistry {
		reference = source.Reference()
	}
	return template.Payload{Reference: reference, Digest: source.Digest.String()}, nil
}

func (t *tool) checkRelease(o templateOptions, source *ociimage.Source) error {
	if o.Release == "" {
		return nil
	}
	images, err := source.Images()
	if err != nil {
		return err
	}
	for _, i := range images {
		config, err := i.Image.ConfigFile()
		if err != nil {
			return fmt.Errorf("read the payload's configuration: %w", err)
		}
		release := payload.ReleaseOf(config.Config.Labels)
		switch {
		case release == "":
			t.Console.Emit(event.Event{Object: o.payload, Phase: event.Check, State: event.Warning,
				Message: "the payload doesn't say which OpenShift release it is for, so nothing holds it to " + o.Release})
		case release != o.Release:
			return &fault.Error{Where: o.payload, What: fmt.Sprintf("the payload is for OpenShift %s, and --release is %s", release, o.Release),
				Fix: "give the payload of " + o.Release + ", or --release " + release}
		}
	}
	return nil
}
