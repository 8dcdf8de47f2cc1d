package signed

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/attest"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/ociimage"
)

// FileName is an envelope's in a folder.
const FileName = "catalog.json"

// artifactType makes an OCI artifact that is a catalog:
// https://github.com/opencontainers/image-spec/blob/main/manifest.md#guidelines-for-artifact-usage
const artifactType = "application/vnd.winbake.catalog.config.v1+json"

// Artifact is an envelope as an OCI artifact of one layer.
func Artifact(envelope []byte) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), artifactType)
	return mutate.AppendLayers(img, static.NewLayer(envelope, attest.MediaType))
}

// fetch reads the envelope from a file, a folder with FileName, an OCI layout, or
// a registry.
func fetch(ctx context.Context, from string, o ociimage.Options) ([]byte, error) {
	if ref, ok := strings.CutPrefix(from, "oci://"); ok {
		return fromImage(ctx, "docker://"+ref, o)
	}
	path := from
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		path = filepath.Join(from, FileName)
		if _, err := os.Stat(path); err != nil {
			return fromImage(ctx, "oci:"+from, o)
		}
	} else if err != nil {
		data, err := fromImage(ctx, from, o)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, unreadable(from, err)
		}
		return data, err
	}
	data, err := infile.Read(path, maxBytes)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

func unreadable(path string, err error) error {
	what := "the catalog can't be read: " + infile.Cause(err)
	if errors.Is(err, fs.ErrNotExist) {
		what = "no such file or folder"
	}
	return &fault.Error{Where: path, What: what, Fix: "--from oci://REGISTRY/REPOSITORY:TAG, a file, or a folder with " + FileName, Err: err}
}

func fromImage(ctx context.Context, ref string, o ociimage.Options) ([]byte, error) {
	s, err := ociimage.Load(ctx, ref, o)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // only read
	img, err := s.Image()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, s.Fault(err)
	}
	i := slices.IndexFunc(layers, func(l v1.Layer) bool {
		mt, err := l.MediaType()
		return err == nil && mt == attest.MediaType
	})
	if i < 0 {
		return nil, &fault.Error{Where: s.Reference(), What: "it holds no signed catalog", Fix: "name the artifact of a catalog, oci://REGISTRY/REPOSITORY:TAG, or a file"}
	}
	blob, err := layers[i].Compressed()
	if err != nil {
		return nil, s.Fault(err)
	}
	defer blob.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(blob, maxBytes))
	return data, s.Fault(err)
}
