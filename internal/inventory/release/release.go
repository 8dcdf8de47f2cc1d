// Package release reads which commit of which repository each image of an
// OpenShift release is built from.
//
// A release image names its parts in one file, release-manifests/image-references,
// an ImageStream whose tags carry a pull spec and the source commit:
// https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/new.go.
// Read takes that file wherever it is: in a registry, an OCI layout, an image
// tarball, an extracted folder, alone, or retold by `oc adm release info`.
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
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/shell"
	"github.com/winbake/winbake/internal/version"
)

// Where a release image and an extracted one keep the two files.
const (
	folder         = "release-manifests"
	referencesFile = "image-references"
	metadataFile   = "release-metadata"
)

// Read reads the release that ref names: an image in a registry, an OCI layout
// or an image tarball of one, a folder that `oc adm release extract` or
// `oc image extract` wrote, an image-references file in JSON or YAML, or what
// `oc adm release info` printed, with or without -o json, --commits,
// --commit-urls or --pullspecs. Whatever exists as a file is never looked for
// in a registry.
//
// What can't be read is a *fault.Error that says what to give instead.
func Read(ctx context.Context, ref string, o ociimage.Options) (inventory.Payload, inventory.Source, error) {
	p, err := read(ctx, ref, o)
	if err != nil {
		return inventory.Payload{}, inventory.Source{}, err
	}
	if p.Version == "" && !anyCommit(p.Tags) {
		return inventory.Payload{}, inventory.Source{}, &fault.Error{
			What: "names neither a release nor a single commit: not the image-references of a release", Where: p.At.Where,
			Fix: "give the file of a release image, not that of one component: " + saveInfo,
		}
	}
	detail := cmp.Or(p.Version, "no version") + ", " + inventory.Many(len(p.Tags), "image")
	return p, inventory.Source{Kind: "release", Name: ref, Detail: detail}, nil
}

// saveInfo is the command that any oc can answer with what Read needs.
const saveInfo = "oc adm release info --commits RELEASE > release.txt"

func read(ctx context.Context, ref string, o ociimage.Options) (inventory.Payload, error) {
	info, err := os.Stat(ref)
	switch {
	case errors.Is(err, fs.ErrNotExist) && notAnImage(ref):
		return inventory.Payload{}, versionFault(ref)
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

// notAnImage tells a bare release, which people write where an image is asked
// for. Nothing is guessed from it: a mirror holds other bytes under that name.
func notAnImage(ref string) bool {
	_, err := version.ParseOpenShift(ref)
	return err == nil
}

func versionFault(ref string) error {
	return &fault.Error{
		What: "a version, where a release image or a file about one is needed", Where: ref,
		Fix: "--release-image quay.io/openshift-release-dev/ocp-release:" + ref + "-x86_64, or save it where there is a network: oc adm release info --commits " +
			ref + " > release.txt",
	}
}

// fromFolder reads an extracted release, or an OCI layout.
func fromFolder(ctx context.Context, dir string, o ociimage.Options) (inventory.Payload, error) {
	for _, name := range []string{"oci-layout", "index.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fromImage(ctx, dir, o)
		}
	}
	for _, sub := range []string{folder, "."} {
		file := filepath.Join(dir, sub, referencesFile)
		if _, err := os.Stat(file); err == nil {
			return fromExtracted(file)
		}
	}
	return inventory.Payload{}, &fault.Error{
		What: "a folder without " + filepath.Join(folder, referencesFile) + " and without an OCI layout", Where: dir,
		Fix: "oc adm release extract --to=" + shell.Path(dir) + " RELEASE",
	}
}

// fromExtracted reads image-references and the release-metadata next to it.
func fromExtracted(file string) (inventory.Payload, error) {
	src, err := readBounded(file)
	if err != nil {
		return inventory.Payload{}, err
	}
	p, err := Parse(file, src)
	if err != nil || p.Version != "" {
		return p, err
	}
	meta, err := readBounded(filepath.Join(filepath.Dir(file), metadataFile))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		p.Version, err = parseMetadata(filepath.Join(filepath.Dir(file), metadataFile), meta)
	}
	return p, err
}

// fromFile tells an image tarball from a text by its first bytes.
func fromFile(ctx context.Context, file string, o ociimage.Options) (inventory.Payload, error) {
	archive, err := isArchive(file)
	if err != nil {
		return inventory.Payload{}, err
	}
	if archive {
		return fromImage(ctx, file, o)
	}
	src, err := readBounded(file)
	if err != nil {
		return inventory.Payload{}, err
	}
	return Parse(file, src)
}

func anyCommit(tags []inventory.PayloadTag) bool {
	for _, t := range tags {
		if t.Commit != "" {
			return true
		}
	}
	return false
}

var (
	commitURL = regexp.MustCompile(`^(https://.+)/commit/([0-9a-f]{40})$`)
	digest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// tag reads the cells of a row after its name; false when they aren't whole.
func (c columns) tag(name string, cells []string) (tag inventory.PayloadTag, ok bool) {
	tag.Name = name
	switch c {
	case digests:
		tag.Image, ok = digestCell(cells)
	case pullSpecs:
		tag.Image, ok = pullSpecCell(cells)
	case commits:
		tag.Source, tag.Commit, ok = commitCells(cells)
	case commitURLs:
		tag.Source, tag.Commit, ok = urlCells(cells)
	case noColumns, sizes:
	}
	return tag, ok
}

// digestCell reads a digest; oc prints the pull spec of an image that has none.
func digestCell(cells []string) (inventory.Image, bool) {
	if len(cells) == 1 && digest.MatchString(cells[0]) {
		return inventory.Image{Reference: cells[0], Digest: cells[0]}, true
	}
	return pullSpecCell(cells)
}

func pullSpecCell(cells []string) (inventory.Image, bool) {
	if len(cells) != 1 || strings.HasPrefix(cells[0], "sha256:") {
		return inventory.Image{}, false
	}
	i := imageOf(cells[0])
	return i, i.Repository != ""
}

// commitCells reads REPO and COMMIT; either may be empty.
func commitCells(cells []string) (source, commit string, ok bool) {
	switch len(cells) {
	case 0:
		return "", "", true
	case 1:
		if c := fullCommit(cells[0]); c != "" {
			return "", c, true
		}
		return cells[0], "", strings.Contains(cells[0], "://")
	case 2:
		c := fullCommit(cells[1])
		return cells[0], c, c != ""
	}
	return "", "", false
}

// urlCells reads a link to the commit, or for a repository outside of GitHub
// its place and the commit.
func urlCells(cells []string) (source, commit string, ok bool) {
	if len(cells) == 1 {
		if m := commitURL.FindStringSubmatch(cells[0]); m != nil {
			return m[1], m[2], true
		}
	}
	source, commit, ok = commitCells(cells)
	return source, commit, ok && commit != ""
}
