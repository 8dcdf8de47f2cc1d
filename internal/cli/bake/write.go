package bake

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

type outputOptions struct {
	layout, tarball, dir, push string
	layoutSet                  bool
}

func (o *outputOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.layout, "layout", "_output/image", "OCI layout to write; what was there is replaced")
	f.StringVar(&o.tarball, "tarball", "", "tarball to write, for podman load, docker load and skopeo; - is stdout")
	f.StringVar(&o.dir, "dir", "", "folder to write the plain tree into")
	f.StringVar(&o.push, "push", "", "registry reference to push to")
}

// settle drops the default layout where another output was asked for.
func (o *outputOptions) settle() {
	if !o.layoutSet && (o.tarball != "" || o.dir != "" || o.push != "") {
		o.layout = ""
	}
}

// toStdout is what --tarball takes for stdout.
const toStdout = "-"

// refs is where the reference by digest goes: to stdout, unless the image does.
func (o *outputOptions) refs(t *tool) io.Writer {
	if o.tarball == toStdout {
		t.Console.Close()
		return t.Stderr
	}
	return t.Stdout
}

// write writes the image everywhere it was asked for and returns its
// reference by digest: the registry's if it was pushed, else the file's.
func (p *packing) write(ctx context.Context, image oci.ImageOrIndex) (ref string, err error) {
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	extras, err := p.extras.files(nil) // a folder has no base
	if err != nil {
		return "", err
	}
	ref = digest.String()
	for _, to := range p.places() {
		if to.path == "" || to.stdout() {
			continue
		}
		if err := p.writePlace(ctx, to, image, extras); err != nil {
			return "", err
		}
		if err := p.writeSBOM(to.path, digest.String()); err != nil {
			return "", err
		}
		ref = to.path + "@" + digest.String()
	}
	if to := p.outputOptions.push; to != "" {
		if err := p.pushProofs(ctx, to, image); err != nil {
			return "", err
		}
		ref, err = p.push(ctx, to, p.registry, image)
	}
	if err == nil && p.tarball == toStdout {
		err = p.writeStdout(ctx, image)
	}
	return ref, err
}

func (t *tool) push(ctx context.Context, to string, r app.Registry, image oci.ImageOrIndex) (ref string, err error) {
	err = t.step(to, event.Push, func(p stream.Progress, _ *event.Event) (err error) {
		o := r.Options(t.App)
		o.Progress = p
		ref, err = oci.Push(ctx, to, image, o)
		return err
	})
	return ref, err
}

func (p *packing) writePlace(ctx context.Context, to place, image oci.ImageOrIndex, extras []payload.File) error {
	return p.step(to.path, event.Write, func(progress stream.Progress, _ *event.Event) (err error) {
		switch to.kind {
		case oci.KindDir:
			return payload.WriteDir(ctx, to.path, p.tree, payload.DirOptions{Store: p.store, Extras: extras, Progress: progress})
		case oci.KindLayout:
			_, err = oci.WriteLayout(ctx, to.path, image, progress)
		default:
			_, err = oci.WriteTarball(ctx, to.path, image, progress)
		}
		return err
	})
}

// writeStdout writes a tarball to stdout once it is whole: a reader gets all of it
// or nothing.
func (p *packing) writeStdout(ctx context.Context, image oci.ImageOrIndex) error {
	dir, cleanup, err := p.store.TempDir()
	if err != nil {
		return err
	}
	defer cleanup() //nolint:errcheck // what stays behind, the next run removes
	file := filepath.Join(dir, "payload.tar")
	if _, err := oci.WriteTarball(ctx, file, image, nil); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the tarball: %w", err)
	}
	defer f.Close()
	_, err = io.Copy(p.Stdout, f)
	return err
}

// step tells of the start, the progress and the end of work, which may say more of its end.
func (t *tool) step(object string, phase event.Phase, work func(progress stream.Progress, end *event.Event) error) error {
	t.Tell(object, phase, event.Start, "")
	end := event.Event{Object: object, Phase: phase, State: event.Done}
	err := work(func(done, total int64) {
		t.Console.Emit(event.Event{Object: object, Phase: phase, State: event.Progress, Done: done, Total: total})
	}, &end)
	if err != nil {
		end.State = event.Failed
	}
	t.Console.Emit(end)
	return err
}
