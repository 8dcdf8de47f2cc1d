package oci

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
)

const layoutMark = `{"imageLayoutVersion":"` + layoutVersion + `"}`

// WriteLayout makes dir an OCI image layout that holds this image or index and
// nothing else. It returns the digest.
//
// dir is made if need be; what it held before is replaced. At any moment, also
// after a kill or a power cut, dir holds the old image or the new one, whole:
// index.json is replaced after all blobs are in place, and blobs that nothing
// refers to any more are removed after that. A blob that is there already is
// hashed and kept. Two runs on one folder wait for each other. An error takes away
// what was written into a folder that was empty or didn't exist.
//
// A folder that isn't empty and isn't a layout is refused. Progress counts the
// bytes of all blobs.
func WriteLayout(ctx context.Context, dir string, x ImageOrIndex, progress stream.Progress) (v1.Hash, error) {
	blobs, err := blobsOf(x)
	if err != nil {
		return v1.Hash{}, err
	}
	root := blobs[len(blobs)-1].desc
	made, unlock, err := atomicfs.MakeLocked(ctx, dir)
	if err != nil {
		return v1.Hash{}, atomicfs.CantWrite(dir, err)
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	if err := checkLayoutDir(dir); err != nil {
		return v1.Hash{}, err
	}
	before, err := os.ReadDir(dir)
	if err == nil {
		err = fillLayout(ctx, dir, root, blobs, stream.NewMeter(progress, sizeOf(blobs)))
	}
	if err == nil {
		err = sweepLayout(dir, blobs)
	} else if len(before) == 0 {
		removeUnfinished(dir, made)
	}
	if err != nil {
		return v1.Hash{}, atomicfs.CantWrite(dir, err)
	}
	return root.Digest, nil
}

// removeUnfinished takes away what fillLayout wrote into an empty folder: no reader
// takes it for an image. What somebody else put there meanwhile stays.
func removeUnfinished(dir string, made bool) {
	sums := filepath.Join(dir, "blobs", "sha256")
	_ = sweep(dir, func(n string) bool { return n == layoutFile || n == indexFile })
	_ = sweep(sums, blobName.MatchString)
	_ = os.Remove(sums)
	_ = os.Remove(filepath.Dir(sums))
	if made {
		_ = os.Remove(dir)
	}
}

// checkLayoutDir keeps a wrong folder name from costing somebody's files. A
// layout that lost parts of itself, or was never finished, passes.
func checkLayoutDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return atomicfs.CantWrite(dir, err)
	}
	for _, e := range entries {
		if e.Name() == layoutFile {
			return nil
		}
	}
	for _, e := range entries {
		if n := e.Name(); n != "blobs" && n != indexFile && !atomicfs.IsTemp(n) {
			return atomicfs.Foreign(dir, "isn't an OCI image layout: it holds "+n)
		}
	}
	return nil
}

// fillLayout points the layout to its new image once all blobs are there.
func fillLayout(ctx context.Context, dir string, root v1.Descriptor, blobs []blob, m *stream.Meter) error {
	if err := atomicfs.WriteFile(filepath.Join(dir, layoutFile), []byte(layoutMark)); err != nil {
		return err
	}
	buf := make([]byte, stream.BufferSize)
	present := localStore{files: folder(dir), path: blobPath}
	for _, b := range blobs {
		name := filepath.Join(dir, filepath.FromSlash(blobPath(b.desc.Digest)))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if stream.Copy(ctx, io.Discard, func() (io.ReadCloser, error) { return openVerified(present, b.desc) }, buf) == nil {
			m.Add(b.desc.Size)
			continue
		}
		err := atomicfs.PutFile(name, func(w io.Writer) error { return b.copyTo(ctx, w, m, buf) })
		if err != nil {
			return err
		}
	}
	root.Annotations = map[string]string{refName: layoutTag}
	raw, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{root},
	})
	if err != nil {
		return err
	}
	return atomicfs.WriteFile(filepath.Join(dir, indexFile), raw)
}

// layoutTag is the tag of the one image of a layout: the one that umoci takes
// where none is given. skopeo, podman and buildah need none where there is one
// image. The release would be another tag after each update, in scripts too.
const layoutTag = "latest"

// sweepLayout removes what the image doesn't refer to.
func sweepLayout(dir string, blobs []blob) error {
	keep := map[string]bool{}
	for _, b := range blobs {
		keep[b.desc.Digest.Hex] = true
	}
	return errors.Join(
		sweep(dir, atomicfs.IsTemp),
		sweep(filepath.Join(dir, "blobs", "sha256"), func(n string) bool {
			return atomicfs.IsTemp(n) || blobName.MatchString(n) && !keep[n]
		}),
	)
}

var blobName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sweep removes the files in dir that old names. Folders stay, but for those of
// killed runs.
func sweep(dir string, old func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.IsDir() && !atomicfs.IsTemp(e.Name()) || !old(e.Name()) })
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// CheckPlace tells whether something can be written to path, before there is
// anything to write: a KindLayout, or a tarball for any other kind. It changes
// nothing. What WriteLayout and WriteTarball refuse, it refuses.
func CheckPlace(kind Kind, path string) error {
	target, err := atomicfs.Target(path)
	if err != nil {
		return err
	}
	below := filepath.Dir(target) // what is made again there
	if kind != KindLayout {
		err = checkRegular(target)
	} else if _, serr := os.Stat(target); serr == nil {
		below, err = target, checkLayoutDir(target)
	}
	if err == nil {
		err = atomicfs.CheckWritable(target, below)
	}
	return err
}

// checkRegular refuses what a renamed file would take away: a pipe, a device, a
// folder.
func checkRegular(file string) error {
	info, err := os.Lstat(file)
	if err != nil || info.Mode().IsRegular() {
		return nil //nolint:nilerr // it is made, and then tells what is wrong
	}
	return &fault.Error{What: "it is there and isn't a regular file: " + info.Mode().String(), Where: file, Fix: "name another file, or one that is still to be"}
}
