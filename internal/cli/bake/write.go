package bake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cas"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/stream"
	"github.com/winbake/winbake/payload"
)

type outputOptions struct {
	layout, tarball, dir, push string
	layoutSet, overwrite       bool
}

func (o *outputOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.layout, "layout", "_output/image", "OCI layout to write; what was there is replaced")
	f.StringVar(&o.tarball, "tarball", "", "tarball to write, for podman load, docker load and skopeo; - is stdout")
	f.StringVar(&o.dir, "dir", "", "folder to write the plain tree into")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace a folder of --dir or --layout that holds something else")
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
func (t *tool) write(ctx context.Context, o outputOptions, r app.Registry, image ociimage.ImageOrIndex, tree *payload.Tree, extras []payload.File, store *cas.Store) (ref string, err error) {
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	ref = digest.String()
	for _, p := range o.places() {
		if p.path == "" || p.stdout() {
			continue
		}
		if err := t.writePlace(ctx, o, p, image, tree, extras, store); err != nil {
			return "", err
		}
		ref = p.path + "@" + digest.String()
	}
	if o.push != "" {
		ref, err = t.push(ctx, o.push, r, image)
	}
	if err == nil && o.tarball == toStdout {
		err = t.writeStdout(ctx, image, store)
	}
	return ref, err
}

func (t *tool) push(ctx context.Context, to string, r app.Registry, image ociimage.ImageOrIndex) (ref string, err error) {
	err = t.step(to, event.Push, func(p stream.Progress) (err error) {
		o := t.load(r)
		o.Progress = p
		ref, err = ociimage.Push(ctx, to, image, o)
		return err
	})
	return ref, err
}

func (t *tool) writePlace(ctx context.Context, o outputOptions, p place, image ociimage.ImageOrIndex, tree *payload.Tree, extras []payload.File, store *cas.Store) error {
	done, err := o.setAside(p)
	if err == nil {
		err = t.step(p.path, event.Write, func(tell stream.Progress) (err error) {
			switch p.kind {
			case ociimage.KindDir:
				return payload.WriteDir(ctx, p.path, tree, payload.DirOptions{Store: blobStore{store}, Extras: extras, Progress: tell})
			case ociimage.KindLayout:
				_, err = ociimage.WriteLayout(ctx, p.path, image, tell)
			default:
				_, err = ociimage.WriteTarball(ctx, p.path, image, tell)
			}
			return err
		})
	}
	return errors.Join(err, done(err == nil))
}

// writeStdout writes a tarball to stdout once it is whole: a reader gets all of it
// or nothing.
func (t *tool) writeStdout(ctx context.Context, image ociimage.ImageOrIndex, store *cas.Store) error {
	dir, cleanup, err := store.TempDir("tarball-")
	if err != nil {
		return err
	}
	defer cleanup()
	file := filepath.Join(dir, "payload.tar")
	if _, err := ociimage.WriteTarball(ctx, file, image, nil); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the tarball: %w", err)
	}
	defer f.Close()
	_, err = io.Copy(t.Stdout, f)
	return err
}

func (t *tool) step(object string, phase event.Phase, run func(stream.Progress) error) error {
	t.Console.Emit(event.Event{Object: object, Phase: phase, State: event.Start})
	err := run(t.progress(object, phase))
	state := event.Done
	if err != nil {
		state = event.Failed
	}
	t.Console.Emit(event.Event{Object: object, Phase: phase, State: state})
	return err
}
