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

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/build/attest"
	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/sbom"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
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
	withVerify bool
	only       []string
	format     string
	sbom       sbom.Format
	sign       signOptions
	builderID  string
	key        *attest.Key // nil for none
}

func newPayload(t *tool) *cobra.Command {
	var o payloadOptions
	output := app.NewOutput("PayloadImage", madeImage{})
	cmd := &cobra.Command{
		Use: "payload",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return &fault.Error{
				What: fmt.Sprintf("%s takes no argument %q", cmd.CommandPath(), args[0]), Excerpt: "usage: " + cmd.UseLine(),
				Fix: "the payload has all of versions.yaml; for one of them: bake build " + args[0],
			}
		},
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
	f.StringVar((*string)(&o.sbom), "sbom", string(sbom.SPDX), "spdx, cyclonedx or none: beside each output, with --push as a referrer of the image")
	o.sign.register(f)
	f.StringVar(&o.builderID, "builder-id", "", "with --sign-key, also push SLSA provenance of the builder with this URI")
	f.BoolVar(&o.withVerify, "with-verify", false, "carry verify.exe, which checks nodes, in the image's /winbake")
	o.cacheRegistry = &o.imageOptions.registry
	o.buildOptions.register(cmd)
	o.registerLocked(cmd)
	output.Register(cmd)
	app.Choices(cmd, "format", string(payload.Archived), string(payload.Flat))
	app.Choices(cmd, "sbom", string(sbom.SPDX), string(sbom.CycloneDX), string(sbom.None))
	app.Complete(cmd, "only", t.fromPins(componentNames))
	return cmd
}

// payload runs the pipeline. When something in the cache turns out damaged on
// its way out, it is removed and the pipeline runs again, which makes it again.
func (t *tool) payload(ctx context.Context, o payloadOptions) (string, error) {
	o.settle()
	if err := o.check(t); err != nil {
		return "", err
	}
	if err := o.loadKey(); err != nil {
		return "", err
	}
	for {
		ref, err := t.payloadOnce(ctx, o)
		if !errors.Is(err, cache.ErrDamaged) || ctx.Err() != nil {
			return ref, err
		}
		t.Tell("cache", event.Pack, event.Warning, err.Error()+"; making it again")
		o.noCache = false
	}
}

// loadKey reads the key before any work.
func (o *payloadOptions) loadKey() (err error) {
	switch {
	case o.sign.key == "" && o.builderID != "":
		return &fault.Error{What: "--builder-id is for provenance, which is only worth something when it is signed", Fix: "add --sign-key KEY"}
	case o.sign.key != "" && o.push == "":
		return &fault.Error{What: "--sign-key signs what is pushed", Fix: "add --push REF, or sign later: bake attest REF --sign-key KEY"}
	default:
		o.key, err = o.sign.load()
	}
	return err
}

// packing is one run of the pipeline.
type packing struct {
	*tool
	payloadOptions
	file   *pins.File
	jobs   []*compile.Job
	tree   *payload.Tree // its files have only paths until they are built
	base   *baseImage
	extras *extras
	store  blobStore
	kept   []payload.KeptFile // of the base, as the last of its images has them
}

func (t *tool) payloadOnce(ctx context.Context, o payloadOptions) (string, error) {
	file, jobs, err := t.jobs(trimmed(o.only))
	if err != nil {
		return "", err
	}
	if err := t.whole(o, file); err != nil {
		return "", err
	}
	b, err := t.builder(ctx, o.buildOptions)
	if err != nil {
		return "", err
	}
	o.unpacked = t.unpacked
	base, err := o.openBase(ctx, o.registry.Options(t.App), file)
	if err != nil {
		return "", err
	}
	defer base.close()
	p := &packing{t, o, file, jobs, &payload.Tree{Format: payload.Format(cmp.Or(o.format, file.Format()))}, base, nil, blobStore{b.Store}, nil}
	for _, j := range jobs {
		p.tree.Files = append(p.tree.Files, payload.File{Path: j.Component.Payload})
	}
	if err := p.settle(ctx); err != nil {
		return "", err
	}
	if err := compile.CheckSigned(jobs); err != nil {
		return "", err
	}
	artifacts, err := b.Build(ctx, jobs)
	if err != nil {
		return "", err
	}
	if o.record {
		if err := t.record(ctx, file, artifacts); err != nil {
			return "", err
		}
	}
	if err := b.Sign(ctx, jobs, artifacts); err != nil {
		return "", err
	}
	if err := p.fill(artifacts); err != nil {
		return "", err
	}
	if p.extras, err = p.newExtras(ctx, artifacts); err != nil {
		return "", err
	}
	image, err := p.image(ctx)
	if err != nil {
		return "", err
	}
	return p.write(ctx, image)
}

// fill describes the files. They are opened when a layer or a folder is made of
// them, and not when the store knows the layer.
func (p *packing) fill(artifacts []*compile.Artifact) error {
	for i, a := range artifacts {
		p.tree.Files[i] = payload.File{
			Path: p.tree.Files[i].Path, SHA256: strings.TrimPrefix(a.Digest, "sha256:"), Size: a.Size, Verified: true,
			Open: func() (io.ReadCloser, error) { return p.store.Open(a.Digest) },
		}
	}
	return p.tree.Check()
}

// image packs tree and extras into a layer each and puts them onto each image
// of the base, or into an image of their own.
func (p *packing) image(ctx context.Context) (oci.ImageOrIndex, error) {
	options, err := p.describe(p.file, p.jobs, p.base)
	if err != nil {
		return nil, err
	}
	// The files of /winbake aren't compressed already, whatever the payload's are.
	flat, err := payload.NewCodec(p.compression, payload.Flat)
	if err != nil {
		return nil, err
	}
	return p.base.add(options, func(image v1.Image) (v1.Image, error) {
		under, err := p.base.under(image)
		if err != nil {
			return nil, err
		}
		p.kept = under.kept
		files, err := p.extras.files(under.kept)
		if err != nil {
			return nil, err
		}
		layer, err := p.layer(ctx, under.kept, under.without(files))
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
		top, err := payload.NewExtras(ctx, files, p.store, payload.LayerOptions{Codec: flat})
		if err != nil {
			return nil, err
		}
		return payload.Append(image, top, options)
	})
}

func (p *packing) layer(ctx context.Context, kept []payload.KeptFile, removes []string) (layer *payload.Layer, err error) {
	tree := &payload.Tree{Format: p.tree.Format, Files: p.tree.Files, Kept: kept}
	codec, err := payload.NewCodec(p.compression, tree.Format)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	err = p.step("layer", event.Pack, func(progress stream.Progress, end *event.Event) error {
		layer, err = payload.NewLayer(ctx, tree, p.store, payload.LayerOptions{Codec: codec, Removes: removes, Progress: progress})
		if err != nil {
			return err
		}
		if layer.Cached() {
			end.State = event.Cached
		}
		if size, err := layer.Size(); err == nil {
			end.Message = fmt.Sprintf("%s, %s packed into %s in %s", inventory.Many(len(tree.Files), "file"), megabytes(tree.Size()), megabytes(size), time.Since(began).Round(10*time.Millisecond))
		}
		return nil
	})
	return layer, err
}
