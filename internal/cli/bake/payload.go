package bake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cas"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/compile"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/stream"
	"github.com/winbake/winbake/payload"
)

// madeImage is what payload answers with -o json.
type madeImage struct {
	// Reference is that of the last place that was written, by digest.
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
}

type payloadOptions struct {
	buildOptions
	imageOptions
	outputOptions
	extrasOptions
	only   []string
	format string
}

func newPayload(t *tool) *cobra.Command {
	var o payloadOptions
	output := app.NewOutput("PayloadImage", madeImage{})
	cmd := &cobra.Command{
		Use:   "payload",
		Short: "Build every component and pack them into one image",
		Long: `payload is the main job: versions.yaml into one image that holds the Windows
node binaries below /payload, in the layout that the operator of that release
reads. What was built before isn't built again, and the same pins always give
the same bytes.

The image is written into an OCI layout (_output/image), which needs no
registry and no daemon. With --push, --tarball or --dir and no --layout, no
layout is written. The last line on stdout is the image's reference by digest;
with --tarball - stdout is the tarball, and that line goes to stderr.

With --base the payload becomes a layer of the operator's image. Files of that
image's own /payload that the pins don't bring stay, and are listed; the base
must be for the same release and have the same format.

Where versions.yaml declares services, a second layer holds /winbake/node.json:
what a node with this payload should be, for verify node and bake node. With
--dir D it lies in D.winbake.`,
		Example: `  bake payload
  bake payload --push quay.io/me/payload:4.20
  bake payload --base quay.io/me/operator@sha256:... --push quay.io/me/operator:baked
  bake payload --only csi-proxy --format flat --dir out
  bake payload --with-verify        # verify.exe for the nodes comes along`,
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.layoutSet = cmd.Flags().Changed("layout")
			ref, err := t.payload(cmd.Context(), o)
			if err != nil {
				return err
			}
			made := madeImage{ref, ref[strings.LastIndexByte(ref, '@')+1:]}
			return output.Write(o.refs(t), made, func() [][]string { return [][]string{{ref}} })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&o.only, "only", nil, "only these components, separated by commas")
	f.StringVar(&o.format, "format", "", "archived or flat (default by the release: archived from 4.21 on)")
	o.imageOptions.register(cmd)
	o.outputOptions.register(cmd)
	f.BoolVar(&o.withVerify, "with-verify", false, "carry verify.exe, which checks nodes, in the image's /winbake")
	o.buildOptions.register(cmd)
	output.Register(cmd)
	app.Choices(cmd, "format", string(payload.Archived), string(payload.Flat))
	app.Complete(cmd, "only", t.fromPins(componentNames))
	return cmd
}

// payload runs the pipeline. When something in the cache turns out damaged on
// its way out, it is removed and the pipeline runs again, which makes it anew.
func (t *tool) payload(ctx context.Context, o payloadOptions) (string, error) {
	o.settle()
	if err := o.check(t); err != nil {
		return "", err
	}
	for {
		ref, err := t.payloadOnce(ctx, o)
		if !errors.Is(err, cas.ErrDamaged) || ctx.Err() != nil {
			return ref, err
		}
		t.Console.Emit(event.Event{Object: "cache", Phase: event.Pack, State: event.Warning, Message: err.Error() + "; making it anew"})
		o.noCache = false
	}
}

func (t *tool) payloadOnce(ctx context.Context, o payloadOptions) (string, error) {
	names := splitNames(o.only)
	file, jobs, err := t.jobs(names)
	if err != nil {
		return "", err
	}
	if err := t.whole(o, file); err != nil {
		return "", err
	}
	store, err := t.store()
	if err != nil {
		return "", err
	}
	b, err := t.builder(ctx, store, o.buildOptions)
	if err != nil {
		return "", err
	}
	base, err := o.openBase(ctx, t.load(o.registry), file)
	if err != nil {
		return "", err
	}
	defer base.close()
	tree := newTree(file, o.format, jobs)
	if err := t.settle(ctx, &o.imageOptions, base, file, tree, blobStore{store}); err != nil {
		return "", err
	}
	artifacts, err := b.Build(ctx, jobs)
	if err != nil {
		return "", err
	}
	if err := fill(tree, artifacts, store); err != nil {
		return "", err
	}
	extras, err := t.extras(ctx, o, file, jobs, artifacts)
	if err != nil {
		return "", err
	}
	image, err := t.image(ctx, o.imageOptions, file, jobs, tree, extras, base, store)
	if err != nil {
		return "", err
	}
	files, err := extras.files(nil) // a folder has no base
	if err != nil {
		return "", err
	}
	return t.write(ctx, o.outputOptions, o.registry, image, tree, files, store)
}

// newTree has the paths of the payload's files, which are known before they are
// built.
func newTree(file *pins.File, format string, jobs []*compile.Job) *payload.Tree {
	tree := &payload.Tree{Format: payload.Format(cmp.Or(format, file.Format()))}
	for _, j := range jobs {
		tree.Files = append(tree.Files, payload.File{Path: j.Component.Payload})
	}
	return tree
}

// fill describes the files. They are opened when a layer or a folder is made of
// them, and not when the store knows the layer.
func fill(tree *payload.Tree, artifacts []*compile.Artifact, store *cas.Store) error {
	for i, a := range artifacts {
		tree.Files[i] = payload.File{
			Path: tree.Files[i].Path, SHA256: strings.TrimPrefix(a.Digest, "sha256:"), Size: a.Size, Verified: true,
			Open: func() (io.ReadCloser, error) { return blobStore{store}.Open(a.Digest) },
		}
	}
	return tree.Check()
}

// image packs tree and extras into a layer each and puts them onto each image
// of the base, or into an image of their own.
func (t *tool) image(ctx context.Context, o imageOptions, file *pins.File, jobs []*compile.Job, tree *payload.Tree, extras *extras, base *baseImage, store *cas.Store) (ociimage.ImageOrIndex, error) {
	options, err := o.describe(file, jobs, base)
	if err != nil {
		return nil, err
	}
	return base.add(options, func(image v1.Image) (v1.Image, error) {
		under, err := base.under(image)
		if err != nil {
			return nil, err
		}
		files, err := extras.files(under.kept)
		if err != nil {
			return nil, err
		}
		layer, err := t.layer(ctx, o, &payload.Tree{Format: tree.Format, Files: tree.Files, Kept: under.kept}, under.without(files), store)
		if err != nil {
			return nil, err
		}
		if image == nil {
			image, err = payload.NewImage(layer, options)
		} else {
			image, err = payload.Append(image, layer, options)
		}
		if err != nil || len(files) == 0 {
			return image, err
		}
		top, err := payload.NewExtras(ctx, files, blobStore{store}, payload.LayerOptions{Codec: codecFor(o.compression)})
		if err != nil {
			return nil, err
		}
		return payload.Append(image, top, options)
	})
}

func (t *tool) layer(ctx context.Context, o imageOptions, tree *payload.Tree, removes []string, store *cas.Store) (*payload.Layer, error) {
	codec, err := payload.NewCodec(o.compression, tree.Format)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	t.Console.Emit(event.Event{Object: "layer", Phase: event.Pack, State: event.Start})
	layer, err := payload.NewLayer(ctx, tree, blobStore{store}, payload.LayerOptions{Codec: codec, Removes: removes, Progress: t.progress("layer", event.Pack)})
	if err != nil {
		t.Console.Emit(event.Event{Object: "layer", Phase: event.Pack, State: event.Failed})
		return nil, err
	}
	t.Console.Emit(event.Event{Object: "layer", Phase: event.Pack, State: doneOrCached(layer.Cached()), Message: layerMessage(tree, layer, began)})
	return layer, nil
}

// codecFor is the layer's of /winbake, whose files aren't compressed already.
func codecFor(name string) payload.Codec {
	codec, err := payload.NewCodec(name, payload.Flat)
	if err != nil {
		return payload.Codec{} // the payload's layer was refused for it
	}
	return codec
}

func doneOrCached(cached bool) event.State {
	if cached {
		return event.Cached
	}
	return event.Done
}

func layerMessage(tree *payload.Tree, layer *payload.Layer, began time.Time) string {
	size, err := layer.Size()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d files, %s packed into %s in %s", len(tree.Files), megabytes(tree.Size()), megabytes(size), time.Since(began).Round(10*time.Millisecond))
}

func (t *tool) progress(object string, phase event.Phase) stream.Progress {
	return func(done, total int64) {
		t.Console.Emit(event.Event{Object: object, Phase: phase, State: event.Progress, Done: done, Total: total})
	}
}
