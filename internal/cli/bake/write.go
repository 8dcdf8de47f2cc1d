package bake

import (
	"context"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cas"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/payload"
)

// outputOptions are the flags that say where the image goes.
type outputOptions struct {
	layout, tarball, dir, push string
	layoutSet                  bool
	pushJobs                   int
}

func (o *outputOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.layout, "layout", "_output/image", "OCI layout to write; what was there is replaced")
	f.StringVar(&o.tarball, "tarball", "", "tarball to write, for podman load, docker load and skopeo")
	f.StringVar(&o.dir, "dir", "", "folder to write the plain tree into")
	f.StringVar(&o.push, "push", "", "registry reference to push to")
	f.IntVar(&o.pushJobs, "push-jobs", 4, "blobs to push at once")
}

// settle drops the default layout where another output was asked for.
func (o *outputOptions) settle() {
	if !o.layoutSet && (o.tarball != "" || o.dir != "" || o.push != "") {
		o.layout = ""
	}
}

// write writes the image everywhere it was asked for and returns its
// reference by digest: the registry's if it was pushed, else the file's.
func (t *tool) write(ctx context.Context, o outputOptions, r app.Registry, image payload.ImageOrIndex, tree *payload.Tree, extras []payload.File, store *cas.Store) (string, error) {
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	dirOptions := func(p payload.Progress) payload.DirOptions {
		return payload.DirOptions{Store: blobStore{store}, Progress: p}
	}
	outputs := []struct {
		place string
		write func(payload.Progress) (v1.Hash, error)
	}{
		{o.dir, func(p payload.Progress) (v1.Hash, error) {
			if err := payload.WriteDir(ctx, o.dir, tree, dirOptions(p)); err != nil {
				return digest, err
			}
			return digest, payload.WriteExtrasDir(ctx, o.dir+"."+payload.ExtrasRoot, extras)
		}},
		{o.tarball, func(p payload.Progress) (v1.Hash, error) { return payload.WriteTarball(ctx, o.tarball, image, p) }},
		{o.layout, func(p payload.Progress) (v1.Hash, error) { return payload.WriteLayout(ctx, o.layout, image, p) }},
	}
	ref := digest.String()
	for _, out := range outputs {
		if out.place == "" {
			continue
		}
		if _, err := t.step(out.place, event.Write, out.write); err != nil {
			return "", err
		}
		ref = out.place + "@" + digest.String()
	}
	if o.push == "" {
		return ref, nil
	}
	_, err = t.step(o.push, event.Push, func(p payload.Progress) (v1.Hash, error) {
		ref, err = payload.Push(ctx, o.push, image, payload.PushOptions{
			Jobs: o.pushJobs, Keychain: authn.DefaultKeychain, Insecure: r.Insecure, UserAgent: userAgent(),
			Timeout: r.Timeout, Progress: p, Retrying: t.Retrying,
		})
		return digest, err
	})
	return ref, err
}

// step reports one output's start, progress and end.
func (t *tool) step(object string, phase event.Phase, run func(payload.Progress) (v1.Hash, error)) (v1.Hash, error) {
	began := time.Now()
	t.Console.Emit(event.Event{Object: object, Phase: phase, State: event.Start})
	hash, err := run(t.progress(object, phase))
	state := event.Done
	if err != nil {
		state = event.Failed
	}
	t.Console.Emit(event.Event{Object: object, Phase: phase, State: state, Message: time.Since(began).Round(10 * time.Millisecond).String()})
	return hash, err
}
