package driver

import (
	"archive/tar"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/gzip"

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

// Program is a built program, or another file of an image.
type Program struct {
	Name string // in the image: azurediskplugin.exe, or payload/index.json
	Size int64  // in bytes
	Open func() (io.ReadCloser, error)
}

// layerLevel is gzip's: 3 is smaller than the standard library's 1 at two thirds of
// its time. The library's version, which go.mod pins, decides the bytes with it.
const layerLevel = 3

// NewLayer packs the program into a layer of a Windows image, which it keeps in the
// store.
func NewLayer(ctx context.Context, p Program, store payload.Store) (v1.Layer, error) {
	blob, err := store.Create()
	if err != nil {
		return nil, fmt.Errorf("create the layer: %w", err)
	}
	defer blob.Abort() //nolint:errcheck // after Commit it does nothing
	if err := Pack(ctx, blob, p); err != nil {
		return nil, err
	}
	digest, _, err := blob.Commit()
	if err != nil {
		return nil, fmt.Errorf("keep the layer: %w", err)
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return store.Open(digest) }, tarball.WithMediaType(types.OCILayer))
}

// Pack writes a layer of a Windows image with these files, and the folders that they are
// in. Such a layer has its files below Files and an empty folder Hives, and each file's
// owner in a PAX record:
// https://github.com/microsoft/hcsshim/blob/main/pkg/ociwclayer/import.go.
func Pack(ctx context.Context, w io.Writer, files ...Program) error {
	z, err := gzip.NewWriterLevel(w, layerLevel)
	if err != nil {
		return fmt.Errorf("start gzip: %w", err)
	}
	tw := tar.NewWriter(z)
	var folders []string
	folder := func(name string) error {
		if slices.Contains(folders, name) {
			return nil
		}
		folders = append(folders, name)
		return tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o555, ModTime: time.Unix(0, 0)})
	}
	if err := errors.Join(folder("Files"), folder("Hives")); err != nil {
		return fmt.Errorf("pack the folders: %w", err)
	}
	for _, p := range files {
		name := path.Join("Files", p.Name)
		for at, c := range name {
			if c == '/' {
				err = errors.Join(err, folder(name[:at]))
			}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o555, Size: p.Size, ModTime: time.Unix(0, 0),
			PAXRecords: map[string]string{"MSWINDOWS.rawsd": owner()}}
		if err = errors.Join(err, tw.WriteHeader(h)); err == nil {
			err = stream.Copy(ctx, tw, p.Open, make([]byte, stream.BufferSize))
		}
		if err != nil {
			return fmt.Errorf("pack %s: %w", p.Name, err)
		}
	}
	if err := errors.Join(tw.Close(), z.Close()); err != nil {
		return fmt.Errorf("pack the layer: %w", err)
	}
	return nil
}

// owner is a self-relative security descriptor, in base64, with BUILTIN\Users
// (S-1-5-32-545) as owner and group: Windows starts no program of a layer without
// one. https://learn.microsoft.com/openspecs/windows_protocols/ms-dtyp/7d4dac05-9cef-4563-a058-f108abecce1d
func owner() string {
	sid := []byte{1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x21, 2, 0, 0}
	head := []byte{1, 0, 0, 0x80 /* self-relative */, 20, 0, 0, 0 /* owner at 20 */, 36, 0, 0, 0 /* group at 36 */, 0, 0, 0, 0, 0, 0, 0, 0}
	return base64.StdEncoding.EncodeToString(append(append(head, sid...), sid...))
}

// Options describe an image.
type Options struct {
	// Program is the name of the image's program.
	Program string
	// HostProcess makes an image for HostProcess containers, which take their search
	// path from the image.
	HostProcess bool
	// Created is the commit's time.
	Created time.Time
	// Labels become annotations too.
	Labels map[string]string
}

// hostPath is the search path of a HostProcess container, as upstream's Dockerfiles
// set it: the driver starts powershell.exe.
const hostPath = `PATH=C:\Windows\system32;C:\Windows;C:\Windows\System32\WindowsPowerShell\v1.0\;`

// put puts a layer onto the base that it was made for.
func put(base *Base, layer v1.Layer, o Options) (v1.Image, error) {
	labels := map[string]string{oci.KeyBaseDigest: base.Digest}
	if base.Name != "" {
		labels[oci.KeyBaseName] = base.Name
	}
	maps.Copy(labels, o.Labels)
	img, err := mutate.Append(mutate.MediaType(mutate.ConfigMediaType(base.image, types.OCIConfigJSON), types.OCIManifestSchema1),
		mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: o.Created}, CreatedBy: "bake driver"}})
	if err != nil {
		return nil, fmt.Errorf("put the layer onto %s: %w", base.Digest, err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the base's configuration: %w", err)
	}
	file = file.DeepCopy()
	file.Created = v1.Time{Time: o.Created}
	c := &file.Config
	c.Entrypoint, c.Cmd, c.User = []string{"/" + o.Program}, nil, "ContainerAdministrator"
	if o.HostProcess {
		c.Env = []string{hostPath}
	}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	maps.Copy(c.Labels, labels)
	if img, err = mutate.ConfigFile(img, file); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return mutate.Annotations(img, labels).(v1.Image), nil
}

// Images puts the layer onto each base, and makes one image of them; a single one stays
// alone.
func Images(bases []*Base, layer v1.Layer, o Options) (oci.ImageOrIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range bases {
		img, err := put(b, layer, o)
		if err != nil || len(bases) == 1 {
			return img, err
		}
		file, err := img.ConfigFile()
		if err != nil {
			return nil, fmt.Errorf("read an image's configuration: %w", err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "windows", Architecture: "amd64", OSVersion: file.OSVersion}}})
	}
	return index, nil
}

// modeLabel says which containers the image is for.
const modeLabel = "dev.winbake.mode"

// Labels are those of the OCI image spec, and those that OpenShift's own images
// have, by which verify skew tells that both sides are of one commit.
func (s *Source) Labels(created time.Time) map[string]string {
	return map[string]string{
		oci.KeyTitle:          s.Build.Name + " for Windows nodes",
		oci.KeySource:         s.Pin.Git,
		oci.KeyRevision:       s.Pin.Commit,
		oci.KeyVersion:        s.Pin.Version,
		oci.KeyCreated:        created.UTC().Format(time.RFC3339),
		oci.KeyCommit:         s.Pin.Commit,
		oci.KeySourceLocation: s.Pin.Git,
		oci.KeyDriver:         s.Build.Name,
		modeLabel:             ModeName(s.InHostProcess),
	}
}
