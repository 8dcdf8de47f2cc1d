package oci

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
)

const (
	layoutMark = `{"imageLayoutVersion":"` + layoutVersion + `"}`
	sums       = "blobs/sha256/"

	// layoutTag is the tag of the one image of a layout: the one that umoci takes
	// where none is given. skopeo, podman and buildah need none where there is one
	// image. The release would be another tag after each update, in scripts too.
	layoutTag = "latest"
)

// WriteLayout makes dir an OCI image layout that holds this image or index and
// nothing else. It returns the digest.
//
// dir is made if need be; what it held before is replaced. At any moment, also
// after a kill or a power cut, dir holds the old image or the new one, whole:
// index.json is replaced after all blobs are in place, and blobs that nothing
// refers to any more are removed after that, as go-containerregistry's layout
// doesn't. A blob that is there already is hashed and kept. Two runs on one folder
// wait for each other. An error removes what was written into a folder that was
// empty or didn't exist.
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

// removeUnfinished removes what fillLayout wrote into an empty folder: no reader
// takes it for an image. What somebody else put there meanwhile stays.
func removeUnfinished(dir string, made bool) {
	_ = sweep(dir, func(n string) bool { return n == layoutFile || n == indexFile })
	_ = sweep(filepath.Join(dir, sums), blobName.MatchString)
	_ = os.Remove(filepath.Join(dir, sums))
	_ = os.Remove(filepath.Join(dir, "blobs"))
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
	if err := os.MkdirAll(filepath.Join(dir, sums), 0o755); err != nil {
		return err
	}
	buf := make([]byte, stream.BufferSize)
	present := inFolder(dir)
	for _, b := range blobs {
		if stream.Copy(ctx, io.Discard, func() (io.ReadCloser, error) { return openVerified(present, b.desc) }, buf) == nil {
			m.Add(b.desc.Size)
			continue
		}
		name := filepath.Join(dir, blobPath(b.desc.Digest))
		if err := atomicfs.PutFile(name, func(w io.Writer) error { return b.copyTo(ctx, w, m, buf) }); err != nil {
			return err
		}
	}
	root.Annotations = map[string]string{refName: layoutTag}
	raw, err := indexJSON(root)
	if err != nil {
		return err
	}
	return atomicfs.WriteFile(filepath.Join(dir, indexFile), raw)
}

func indexJSON(root v1.Descriptor) ([]byte, error) {
	return json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{root}})
}

// sweepLayout removes what the image doesn't refer to.
func sweepLayout(dir string, blobs []blob) error {
	keep := map[string]bool{}
	for _, b := range blobs {
		keep[b.desc.Digest.Hex] = true
	}
	return errors.Join(sweep(dir, atomicfs.IsTemp), sweep(filepath.Join(dir, sums), func(n string) bool {
		return atomicfs.IsTemp(n) || blobName.MatchString(n) && !keep[n]
	}))
}

var blobName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sweep removes the files in dir that old names. Folders stay, but for those of
// killed runs.
func sweep(dir string, old func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if old(e.Name()) && (!e.IsDir() || atomicfs.IsTemp(e.Name())) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
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

// checkRegular refuses what a renamed file would replace: a pipe, a device, a
// folder.
func checkRegular(file string) error {
	info, err := os.Lstat(file)
	if err != nil || info.Mode().IsRegular() {
		return nil //nolint:nilerr // it is made, and then tells what is wrong
	}
	return &fault.Error{What: "it is there and isn't a regular file: " + info.Mode().String(), Where: file, Fix: "name another file, or one that is still to be"}
}

// WriteTarball writes an image or index into one file: an OCI layout as a tar
// (skopeo's oci-archive). For an image, docker's manifest.json is in it too,
// so that `docker load` and `podman load` take it. It returns the digest.
//
// The same image gives the same file. It appears under its name when it is
// complete; before that, and after a kill, the name is what it was, and a file
// .NAME.winbake-* may be beside it, which the next run removes. What is there
// already and isn't a regular file is refused; a link is followed. Progress counts
// the bytes of all blobs.
func WriteTarball(ctx context.Context, file string, x ImageOrIndex, progress stream.Progress) (v1.Hash, error) {
	blobs, err := blobsOf(x)
	if err != nil {
		return v1.Hash{}, err
	}
	root := blobs[len(blobs)-1].desc.Digest
	if file, err = atomicfs.Target(file); err != nil {
		return v1.Hash{}, err
	}
	if err = checkRegular(file); err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = atomicfs.RemoveLeftovers(file)
	}
	if err == nil {
		err = atomicfs.PutFile(file, func(w io.Writer) error {
			t := tarballWriter{tar.NewWriter(w), stream.NewMeter(progress, sizeOf(blobs)), make([]byte, stream.BufferSize)}
			return t.write(ctx, x, blobs)
		})
	}
	if err != nil {
		return v1.Hash{}, atomicfs.CantWrite(file, err)
	}
	return root, nil
}

type tarballWriter struct {
	*tar.Writer
	meter *stream.Meter
	buf   []byte
}

// write puts what says what the tarball is first, so that readers know it before
// they come to the layers.
func (t tarballWriter) write(ctx context.Context, x ImageOrIndex, blobs []blob) error {
	index, err := indexJSON(blobs[len(blobs)-1].desc)
	if err != nil {
		return err
	}
	if err := t.put(ctx, layoutFile, inMemory([]byte(layoutMark))); err != nil {
		return err
	}
	if err := t.put(ctx, indexFile, inMemory(index)); err != nil {
		return err
	}
	if img, ok := x.(v1.Image); ok {
		if err := t.dockerManifest(ctx, img); err != nil {
			return err
		}
	}
	for _, dir := range []string{"blobs/", sums} {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: time.Unix(0, 0)}); err != nil {
			return err
		}
	}
	slices.SortFunc(blobs, func(a, b blob) int { return cmp.Compare(a.desc.Digest.Hex, b.desc.Digest.Hex) })
	for _, b := range blobs {
		if err := t.put(ctx, blobPath(b.desc.Digest), b); err != nil {
			return err
		}
	}
	return t.Close()
}

func (t tarballWriter) put(ctx context.Context, name string, b blob) error {
	err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: b.desc.Size, ModTime: time.Unix(0, 0)})
	if err != nil {
		return err
	}
	return b.copyTo(ctx, t, t.meter, t.buf)
}

// dockerManifest writes the manifest.json of docker save, which newer versions point
// into blobs/ too:
// https://github.com/moby/moby/blob/master/daemon/internal/image/tarexport/tarexport.go
func (t tarballWriter) dockerManifest(ctx context.Context, img v1.Image) error {
	m, err := img.Manifest()
	if err != nil {
		return err
	}
	one := tarball.Descriptor{Config: blobPath(m.Config.Digest)}
	for _, l := range m.Layers {
		one.Layers = append(one.Layers, blobPath(l.Digest))
	}
	raw, err := json.Marshal(tarball.Manifest{one})
	if err != nil {
		return err
	}
	return t.put(ctx, manifestFile, inMemory(raw))
}
