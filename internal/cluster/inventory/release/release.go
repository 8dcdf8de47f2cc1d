// Package release reads which commit of which repository each image of an
// OpenShift release is built from.
//
// A release image names its parts in one file, release-manifests/image-references,
// an ImageStream whose tags carry a pull spec and the source commit:
// https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/new.go.
// Read takes that file from the image, alone, or retold by `oc adm release info`.
//
// It says nothing about driver versions: which upstream version a commit is,
// the catalog knows. It pulls no image but the release image itself, and of
// that only the layers above and with the file.
package release

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
)

const (
	folder         = "release-manifests"
	referencesFile = "image-references"
)

// Read reads the release that ref names: an image in a registry, an OCI layout
// or an image tarball of one, an image-references file in JSON or YAML, or what
// `oc adm release info` printed with --commits or -o json. Whatever exists as a
// file is never looked for in a registry.
//
// What can't be read is a *fault.Error that says what to give instead.
func Read(ctx context.Context, ref string, o oci.Options) (inventory.Payload, inventory.Source, error) {
	p, err := read(ctx, ref, o)
	if err != nil {
		return inventory.Payload{}, inventory.Source{}, err
	}
	if p.Version == "" && !slices.ContainsFunc(p.Tags, func(t inventory.PayloadTag) bool { return t.Commit != "" }) {
		return inventory.Payload{}, inventory.Source{}, &fault.Error{
			What: "names neither a release nor a single commit: not the image-references of a release", Where: p.At.Where,
			Fix: "give the file of a release image, not that of one component: " + saveInfo,
		}
	}
	detail := cmp.Or(p.Version, "no version") + ", " + inventory.Many(len(p.Tags), "image")
	return p, inventory.Source{Kind: "release", Name: ref, Detail: detail}, nil
}

func read(ctx context.Context, ref string, o oci.Options) (inventory.Payload, error) {
	info, err := os.Stat(ref)
	_, noVersion := version.ParseOpenShift(ref)
	switch {
	case errors.Is(err, fs.ErrNotExist) && noVersion == nil:
		// People write a bare release where an image is asked for. Nothing is guessed
		// from it: a mirror holds other bytes under that name.
		return inventory.Payload{}, &fault.Error{
			What: "a version, where a release image or a file about one is needed", Where: ref,
			Fix: "--release-image quay.io/openshift-release-dev/ocp-release:" + ref + "-x86_64, or save it where there is a network: oc adm release info --commits " +
				ref + " > release.txt",
		}
	case err != nil:
		return fromImage(ctx, ref, o)
	case info.IsDir():
		return fromFolder(ctx, ref, o)
	case !info.Mode().IsRegular():
		return inventory.Payload{}, &fault.Error{
			What: "neither a folder nor a regular file (" + info.Mode().Type().String() + ")", Where: ref,
			Fix: "save the release to a file: " + saveInfo,
		}
	}
	return fromFile(ctx, ref, o)
}

func fromFolder(ctx context.Context, dir string, o oci.Options) (inventory.Payload, error) {
	for _, name := range []string{"oci-layout", "index.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fromImage(ctx, dir, o)
		}
	}
	return inventory.Payload{}, &fault.Error{What: "a folder that is no OCI layout", Where: dir, Fix: "save the release to a file: " + saveInfo}
}

// fromFile tells an image tarball from a text by its first bytes.
func fromFile(ctx context.Context, file string, o oci.Options) (inventory.Payload, error) {
	archive, err := isArchive(file)
	if err != nil {
		return inventory.Payload{}, err
	}
	if archive {
		return fromImage(ctx, file, o)
	}
	src, err := readText(file)
	if err != nil {
		return inventory.Payload{}, err
	}
	return Parse(file, src)
}
