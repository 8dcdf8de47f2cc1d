package release

import (
	"context"
	"errors"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/registry"
	"github.com/winbake/winbake/payload"
)

// fromImage reads a release image in a registry, a layout or a tarball.
func fromImage(ctx context.Context, ref string, o payload.LoadOptions) (inventory.Payload, error) {
	im, err := openImage(ctx, ref, o)
	if err != nil {
		return inventory.Payload{}, err
	}
	defer im.close()
	files, err := im.manifests(ctx)
	if err != nil {
		return inventory.Payload{}, imageFault(ctx, err)
	}
	p, err := Parse(im.place(referencesFile), files[referencesFile])
	if err != nil || p.Version != "" || files[metadataFile] == nil {
		return p, err
	}
	p.Version, err = parseMetadata(im.place(metadataFile), files[metadataFile])
	return p, err
}

// releaseImage is one image that may be a release's.
type releaseImage struct {
	v1.Image
	// reference is name@digest, or path@digest for local images.
	reference string
	close     func()
}

func (im *releaseImage) place(file string) string { return im.reference + ": " + folder + "/" + file }

// manifests reads the two files from the newest layer that has the first.
// What `oc adm release new` adds is one layer on top of the operator's image,
// so one of some fifteen is read.
func (im *releaseImage) manifests(ctx context.Context) (map[string][]byte, error) {
	layers, err := im.Layers()
	if err != nil {
		return nil, err
	}
	for _, l := range slices.Backward(layers) {
		files, removed, err := readLayer(ctx, l, im.reference)
		if err != nil {
			return nil, err
		}
		if files[referencesFile] != nil {
			return files, nil
		}
		if removed {
			break
		}
	}
	return nil, &fault.Error{
		What: "not a release image: no layer holds " + folder + "/" + referencesFile, Where: im.reference,
		Fix: "give a release image, such as quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64",
	}
}

// openImage opens what ref names, with every blob checked.
func openImage(ctx context.Context, ref string, o payload.LoadOptions) (*releaseImage, error) {
	s, err := payload.Load(ctx, ref, o)
	if err != nil {
		return nil, imageFault(ctx, err)
	}
	images, err := s.Images()
	if err != nil {
		_ = s.Close() // only read
		return nil, imageFault(ctx, err)
	}
	chosen := images[choose(images)]
	return &releaseImage{
		Image: chosen.Image, reference: s.Reference(),
		close: func() { _ = s.Close() }, // only read
	}, nil
}

// choose takes the image for amd64 out of a release for several
// architectures: each of them names the same images.
func choose(images []payload.PlatformImage) int {
	i := slices.IndexFunc(images, func(p payload.PlatformImage) bool { return p.Platform.Architecture == "amd64" })
	return max(i, 0)
}

// imageFault puts the words for a release image into a fault about an image. A
// site without a way to the registry can always bring a file.
func imageFault(ctx context.Context, err error) error {
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	g := *f
	g.Code, g.Err = 0, err
	_, answered := errors.AsType[*transport.Error](err)
	_, failed := errors.AsType[*registry.Failure](err)
	switch {
	case answered || failed:
		g.Fix += "; without a way there, save it elsewhere: " + saveInfo
	case strings.Contains(f.Fix, "payload") || strings.Contains(f.Fix, "layout"):
		g.Fix = "copy the image again: skopeo copy docker://RELEASE oci:DIR; or give a file about it: " + saveInfo
	}
	return &g
}
