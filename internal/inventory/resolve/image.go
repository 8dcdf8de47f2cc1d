package resolve

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/registry"
	"github.com/winbake/winbake/internal/version"
)

// maxTags bounds how many tags of a repository are looked at, the newest first.
const maxTags = 300

type image struct {
	labels map[string]string
	commit string
	tags   []string // that point at it, and are versions
}

// full is a tag that names a whole version: 1.29 moves from one to the next.
var full = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+`)

// answer is what a registry said of one image.
type answer = inventory.VersionFact

// fetch reads the image's labels, and finds its tags.
func fetch(ctx context.Context, c *registry.Client, digest string) (image, error) {
	var i image
	err := c.Do(ctx, func() (err error) {
		i.labels, err = labels(c.Ref, c.Remote(ctx))
		return err
	})
	if err != nil {
		return i, err
	}
	i.commit = i.labels[ociimage.KeyCommit]
	var all []string
	err = c.Do(ctx, func() (err error) {
		all, err = remote.List(c.Ref.Context(), c.Remote(ctx)...)
		return err
	})
	if err != nil {
		return i, err
	}
	for _, tag := range candidates(all) {
		points := false
		err := c.Do(ctx, func() (err error) {
			points, err = pointsAt(c.Ref.Context().Tag(tag), digest, c.Remote(ctx))
			return err
		})
		if err != nil {
			return i, err
		}
		if points {
			i.tags = append(i.tags, tag)
		}
	}
	return i, nil
}

// candidates are the tags that are versions, the newest first.
func candidates(tags []string) []string {
	versions := map[string]version.Driver{}
	for _, tag := range tags {
		if v, err := version.ParseDriver(tag); err == nil && full.MatchString(tag) {
			versions[tag] = v
		}
	}
	out := slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { _, ok := versions[tag]; return !ok })
	slices.SortFunc(out, func(a, b string) int { return versions[b].Compare(versions[a]) })
	return out[:min(len(out), maxTags)]
}

// pointsAt tells whether a tag is of the image, or of an index that it is in.
func pointsAt(tag name.Tag, digest string, o []remote.Option) (bool, error) {
	d, err := remote.Get(tag, o...)
	if err != nil || d.Digest.String() == digest {
		return err == nil, err
	}
	if !d.MediaType.IsIndex() {
		return false, nil
	}
	index, err := d.ImageIndex()
	if err != nil {
		return false, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(m.Manifests, func(below v1.Descriptor) bool { return below.Digest.String() == digest }), nil
}

// labels are an image's; of an index those of its image for Windows, or else of
// the first: they are built from one source.
func labels(ref name.Reference, o []remote.Option) (map[string]string, error) {
	d, err := remote.Get(ref, o...)
	if err != nil {
		return nil, err
	}
	var img v1.Image
	if !d.MediaType.IsIndex() {
		img, err = d.Image()
	} else {
		img, err = within(d)
	}
	if err != nil || img == nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	return config.Config.Labels, nil
}

// within is an image of an index; nil for an empty one.
func within(d *remote.Descriptor) (v1.Image, error) {
	index, err := d.ImageIndex()
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil || len(m.Manifests) == 0 {
		return nil, err
	}
	i := slices.IndexFunc(m.Manifests, func(below v1.Descriptor) bool { return below.Platform != nil && below.Platform.OS == "windows" })
	return index.Image(m.Manifests[max(i, 0)].Digest)
}

// own is the version of an image that bake driver built, and its commit.
func own(labels map[string]string) (answer, bool) {
	v, err := version.ParseDriver(labels[ociimage.KeyVersion])
	if err != nil || labels[ociimage.KeyDriver] == "" || len(labels[ociimage.KeyRevision]) < 40 {
		return answer{}, false
	}
	return answer{Version: v, Known: true, By: "label", Commit: labels[ociimage.KeyRevision],
		At: inventory.Evidence{Text: fmt.Sprintf("labels %s=%s, %s=%s", ociimage.KeyVersion, v, ociimage.KeyRevision, labels[ociimage.KeyRevision])}}, true
}

// versions are those of the tags, each once: a driver's suffixes are variants of
// one.
func (i *image) versions() []version.Driver {
	var out []version.Driver
	for _, tag := range i.tags {
		v, err := version.ParseDriver(tag)
		if err == nil && !slices.ContainsFunc(out, func(o version.Driver) bool { return o.Core() == v.Core() }) {
			out = append(out, v)
		}
	}
	return out
}

// versionLabels name an image's version:
// https://github.com/opencontainers/image-spec/blob/main/annotations.md
var versionLabels = []string{ociimage.KeyVersion, "version"}

// label is the version of a label, nil for none that is whole. On what Red Hat
// builds the labels are of OpenShift, or of the base image, and not the driver's.
func (i *image) label() *version.Driver {
	for name := range i.labels {
		if strings.HasPrefix(name, "io.openshift.") || strings.HasPrefix(name, "com.redhat.") {
			return nil
		}
	}
	v, err := version.ParseDriver(i.labels[i.labelNamed()])
	if err != nil || !full.MatchString(i.labels[i.labelNamed()]) {
		return nil
	}
	return &v
}

func (i *image) labelNamed() string {
	for _, name := range versionLabels {
		if i.labels[name] != "" {
			return name
		}
	}
	return versionLabels[0]
}

// labelName is the label and its value, as evidence.
func (i *image) labelName() string { return i.labelNamed() + "=" + i.labels[i.labelNamed()] }
