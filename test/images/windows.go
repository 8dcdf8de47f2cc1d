// Package images tests what is done with images end to end, and plays the Windows
// base images of such tests.
package images

import (
	"archive/tar"
	"bytes"
	"context"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/winbake/winbake/internal/image/oci"
)

// Hive is the head of a registry file, as far as the checks of a base look.
const Hive = "regf"

// WindowsBase plays a base image: one layer with the registry files that Windows
// reads of it, each with the content hive. osVersion is "" for one of HostProcess
// containers.
func WindowsBase(osVersion, hive string) (v1.Image, error) {
	var files bytes.Buffer
	tw := tar.NewWriter(&files)
	for _, name := range []string{"DEFAULT", "SAM", "SECURITY", "SOFTWARE", "SYSTEM"} {
		if err := tw.WriteHeader(&tar.Header{Name: "Files/Windows/System32/config/" + name, Size: int64(len(hive)), Mode: 0o644}); err != nil {
			return nil, err
		}
		if _, err := tw.Write([]byte(hive)); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.OSVersion = "windows", "amd64", osVersion
	return mutate.ConfigFile(img, config)
}

// WriteWindowsBase writes WindowsBase into an OCI layout.
func WriteWindowsBase(dir, osVersion, hive string) error {
	img, err := WindowsBase(osVersion, hive)
	if err != nil {
		return err
	}
	_, err = oci.WriteLayout(context.Background(), dir, img, nil)
	return err
}
