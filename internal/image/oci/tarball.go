package oci

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/stream"
)

// WriteTarball writes an image or index into one file: an OCI layout as a tar
// (skopeo's oci-archive). For an image, docker's manifest.json is in it too,
// so that `docker load` and `podman load` take it. It returns the digest.
//
// The same image gives the same file. It appears under its name when it is
// complete; before that, and after a kill, the name is what it was, and a file
// .NAME.winbake-* may be beside it, which the next run removes. What is there
// already and isn't a regular file is refused; a link is followed. Progress counts the bytes of all
// blobs.
func WriteTarball(ctx context.Context, file string, x ImageOrIndex, progress stream.Progress) (v1.Hash, error) {
	blobs, err := blobsOf(x)
	if err != nil {
		return v1.Hash{}, err
	}
	root := blobs[len(blobs)-1].desc
	entries, err := tarballEntries(x, root, blobs)
	if err != nil {
		return v1.Hash{}, err
	}
	if file, err = atomicfs.Target(file); err != nil {
		return v1.Hash{}, err
	}
	if err := prepareFile(file); err != nil {
		return v1.Hash{}, atomicfs.CantWrite(file, err)
	}
	err = atomicfs.PutFile(file, func(w io.Writer) error {
		return writeTarball(ctx, w, entries, stream.NewMeter(progress, sizeOf(blobs)))
	})
	if err != nil {
		return v1.Hash{}, atomicfs.CantWrite(file, err)
	}
	return root.Digest, nil
}

// prepareFile makes room for a file: its folder, and nothing of earlier runs in
// it.
func prepareFile(file string) error {
	if err := checkRegular(file); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfs.RemoveLeftovers(file)
}

// tarballEntry is a file of the tarball, or a folder without a blob.
type tarballEntry struct {
	name string
	blob *blob
}

// tarballEntries puts what says what the tarball is first, so that readers
// know it before they come to the layers.
func tarballEntries(x ImageOrIndex, root v1.Descriptor, blobs []blob) ([]tarballEntry, error) {
	idx, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{root},
	})
	if err != nil {
		return nil, err
	}
	entries := []tarballEntry{
		{layoutFile, inMemory([]byte(layoutMark))},
		{indexFile, inMemory(idx)},
	}
	if img, ok := x.(v1.Image); ok {
		raw, err := dockerArchive(img)
		if err != nil {
			return nil, err
		}
		entries = append(entries, tarballEntry{manifestFile, inMemory(raw)})
	}
	entries = append(entries, tarballEntry{name: "blobs/"}, tarballEntry{name: "blobs/sha256/"})
	sorted := slices.SortedFunc(slices.Values(blobs), func(a, b blob) int {
		return cmp.Compare(a.desc.Digest.Hex, b.desc.Digest.Hex)
	})
	for _, b := range sorted {
		entries = append(entries, tarballEntry{blobPath(b.desc.Digest), &b})
	}
	return entries, nil
}

// dockerArchive is the manifest.json of `docker save`, which newer versions
// point into blobs/ too:
// https://github.com/moby/moby/blob/master/daemon/internal/image/tarexport/tarexport.go
func dockerArchive(img v1.Image) ([]byte, error) {
	m, err := img.Manifest()
	if err != nil {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	one := dockerImage{Config: blobPath(m.Config.Digest)}
	for _, l := range m.Layers {
		one.Layers = append(one.Layers, blobPath(l.Digest))
	}
	return json.Marshal([]any{one})
}

func writeTarball(ctx context.Context, w io.Writer, entries []tarballEntry, m *stream.Meter) error {
	tw := tar.NewWriter(w)
	buf := make([]byte, stream.BufferSize)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: e.name, Mode: 0o755, ModTime: time.Unix(0, 0)}
		if e.blob != nil {
			h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, e.blob.desc.Size
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if e.blob == nil {
			continue
		}
		if err := e.blob.copyTo(ctx, tw, m, buf); err != nil {
			return err
		}
	}
	return tw.Close()
}
