package bake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/payload"
)

// baseImage is the image that a payload is put onto, or none.
type baseImage struct {
	source *ociimage.Source
	image  ociimage.ImageOrIndex
	name   string // of a registry's; a path isn't the same everywhere
	below  map[string]below
}

// below is what becomes of the files that one image of the base has where the
// payload and its extras go.
type below struct {
	kept    []payload.KeptFile
	removes []string
}

func (o *imageOptions) openBase(ctx context.Context, load ociimage.Options, file *pins.File) (*baseImage, error) {
	if err := o.checkAccept(); err != nil {
		return nil, err
	}
	ref := cmp.Or(o.base, file.Base)
	if ref == "" && o.replace {
		return nil, &fault.Error{What: "--replace-payload is about the files of a base, and there is none", Fix: "add --base REF, or leave it out"}
	}
	if ref == "" {
		return &baseImage{}, nil
	}
	platform, err := o.parsePlatform()
	if err != nil {
		return nil, err
	}
	load.Platform = platform
	source, err := ociimage.Resolve(ctx, ref, load)
	if err != nil {
		return nil, err
	}
	b := &baseImage{source: source}
	if source.Kind == ociimage.KindRegistry {
		b.name, _, _ = strings.Cut(source.Ref, "@")
	}
	if b.image = source.Index(); source.Index() == nil || platform != nil {
		b.image, err = source.Image()
	}
	return b, err
}

func (b *baseImage) close() {
	if b.source != nil {
		_ = b.source.Close() // it was only read
	}
}

// add puts a payload onto the base, or makes an image of it alone: put gets nil
// then.
func (b *baseImage) add(o payload.ImageOptions, put func(v1.Image) (v1.Image, error)) (ociimage.ImageOrIndex, error) {
	switch base := b.image.(type) {
	case v1.ImageIndex:
		return payload.AppendIndex(base, o, put)
	case v1.Image:
		return put(base)
	default:
		return put(nil)
	}
}

// under is what becomes of the files of one image of the base.
func (b *baseImage) under(image v1.Image) (below, error) {
	if image == nil {
		return below{}, nil
	}
	digest, err := image.Digest()
	if err != nil {
		return below{}, fmt.Errorf("read the base image: %w", err)
	}
	under, ok := b.below[digest.String()]
	if !ok {
		return below{}, &fault.Error{Where: b.source.Reference(), What: "it holds the image " + digest.String() + ", which no engine on Linux would choose",
			Fix: "name the image for linux/amd64 by its own digest"}
	}
	return under, nil
}

// without are the files that go, but for those that the extras replace.
func (b below) without(extras []payload.File) []string {
	return slices.DeleteFunc(slices.Clone(b.removes), func(path string) bool {
		return slices.ContainsFunc(extras, func(f payload.File) bool { return path == payload.ExtrasRoot+"/"+f.Path })
	})
}
