// Package resolve asks registries which version an image is that a manifest names
// by its digest alone. It asks only of such images, and only where it is told to.
//
// An image says its version by the tags of its repository that point at the
// digest, or by its labels. Labels are inherited from a base image and stay when
// an image is built again, so they count where no tag says anything, and against
// a tag that says otherwise nothing is known.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/registry"
)

// Images gives the drivers that have no version those that registries know. A
// registry that doesn't answer is a problem of inv; the error is ctx's alone.
func Images(ctx context.Context, inv *inventory.Inventory, o registry.Options) error {
	return (&resolver{options: o, asks: true, known: map[string]answer{}, silent: map[string]bool{}}).all(ctx, inv)
}

func (r *resolver) all(ctx context.Context, inv *inventory.Inventory) error {
	for i := range inv.Drivers {
		d := &inv.Drivers[i]
		if err := r.version(ctx, &d.Version, d.Image); err != nil {
			return err
		}
		if d.Registrar != nil {
			if err := r.version(ctx, &d.Registrar.Version, d.Registrar.Image); err != nil {
				return err
			}
		}
	}
	for i := range inv.Proxies {
		if err := r.version(ctx, &inv.Proxies[i].Version, inv.Proxies[i].Image); err != nil {
			return err
		}
	}
	inv.Problems = append(inv.Problems, r.problems...)
	inv.Normalize()
	return nil
}

type resolver struct {
	options  registry.Options
	asks     bool              // registries may be asked
	known    map[string]answer // by reference
	local    map[string]answer // by digest, of images that are here
	silent   map[string]bool   // registries that gave no answer at all
	problems []inventory.Problem
}

// version asks for an image that has a digest, a place, and no version.
func (r *resolver) version(ctx context.Context, fact *inventory.VersionFact, img inventory.Image) error {
	if fact.Known || img.Digest == "" || img.Repository == "" {
		return nil
	}
	ref := img.Repository + "@" + img.Digest
	a, asked := r.known[ref]
	if of, here := r.local[img.Digest]; here {
		a, asked = of, true
	}
	if !asked && !r.asks {
		return nil
	}
	if !asked {
		var err error
		if a, err = r.ask(ctx, ref, img); err != nil {
			return err
		}
		r.known[ref] = a
	}
	if a.Known {
		at := fact.At
		*fact = a
		fact.At.Where = at.Where
		return nil
	}
	fact.Reason, fact.Commit = fact.Reason+"; "+a.Reason, a.Commit
	return nil
}

// ask asks one registry. What it doesn't answer is a problem; one that can't be reached
// is asked for one image, since each takes minutes.
func (r *resolver) ask(ctx context.Context, ref string, img inventory.Image) (answer, error) {
	client, err := registry.New(ref, r.options)
	if err == nil {
		host := client.Ref.Context().RegistryStr()
		if r.silent[host] {
			return answer{Reason: "its registry can't be reached"}, nil
		}
		var found image
		if found, err = fetch(ctx, client, img.Digest); err == nil {
			return found.answer(), nil
		}
		_, r.silent[host] = errors.AsType[*registry.Failure](err)
		err = client.Fault(ctx, err)
	}
	if ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	p := inventory.Problem{Where: ref, What: "its registry wasn't asked which version it is: " + err.Error()}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		p.What, p.Fix = "its registry can't say which version it is: "+f.What, f.Fix
	}
	r.problems = append(r.problems, p)
	return answer{Reason: "its registry can't say"}, nil
}

// answer is the version that tags and labels agree on.
func (i *image) answer() answer {
	if a, ok := own(i.labels); ok {
		return a
	}
	slices.Sort(i.tags)
	var a answer
	tags := i.versions()
	label, said := i.label()
	switch {
	case len(tags) > 1:
		a.Reason = fmt.Sprintf("its registry has the digest under tags of several versions: %s", inventory.Some(i.tags))
	case len(tags) == 1 && label != nil && label.Core() != tags[0].Core():
		a.Reason = fmt.Sprintf("its registry has it as %s, and its label says %s", inventory.Some(i.tags), label)
	case len(tags) == 1:
		a = inventory.VersionFact{Version: tags[0], Known: true, By: "registry-tag", At: inventory.Evidence{Text: "tag " + inventory.Some(i.tags)}}
	case label != nil:
		a = inventory.VersionFact{Version: *label, Known: true, By: "label", At: inventory.Evidence{Text: "label " + said}}
	default:
		a.Reason = "its registry has no tag and no label that says"
		if i.commit != "" {
			a.Reason += "; it was built from commit " + i.commit
		}
	}
	if len(i.commit) >= 40 {
		a.Commit = i.commit
	}
	return a
}

// Layouts gives the drivers that have no version those of images that bake driver
// wrote: each of dirs is an OCI layout or a folder of them. No registry is asked.
func Layouts(ctx context.Context, inv *inventory.Inventory, dirs []string) error {
	r := &resolver{known: map[string]answer{}, local: map[string]answer{}}
	for _, dir := range dirs {
		found := 0
		for _, layout := range []string{dir, filepath.Join(dir, "*")} {
			paths, err := filepath.Glob(filepath.Join(layout, "oci-layout"))
			if err != nil {
				return &fault.Error{Where: dir, What: "it can't be looked into", Fix: "give a path without *, ? and [", Err: err}
			}
			for _, p := range paths {
				if err := r.layout(ctx, filepath.Dir(p)); err != nil {
					return err
				}
				found++
			}
		}
		if found == 0 {
			what := "there is no OCI layout in it"
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				what = "no such folder"
			}
			return &fault.Error{Where: dir, What: what, Fix: "give what bake driver wrote, such as --image-layout " + shell.Word("_output/driver")}
		}
	}
	return r.all(ctx, inv)
}

// layout learns the labels of a layout's images, by the digest of each and of the
// whole.
func (r *resolver) layout(ctx context.Context, dir string) error {
	s, err := oci.Load(ctx, "oci:"+dir, oci.Options{Platform: &v1.Platform{OS: "windows", Architecture: "amd64"}})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // only read
	images, err := s.Images()
	if err != nil {
		return err
	}
	for _, i := range images {
		file, err := i.Image.ConfigFile()
		if err != nil {
			return err
		}
		if a, ok := own(file.Config.Labels); ok {
			r.local[i.Digest.String()], r.local[s.Digest.String()] = a, a
		}
	}
	return nil
}

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

func fetch(ctx context.Context, c *registry.Client, digest string) (image, error) {
	var i image
	err := c.Do(ctx, func() (err error) {
		i.labels, err = labels(c.Ref, c.Remote(ctx))
		return err
	})
	if err != nil {
		return i, err
	}
	i.commit = i.labels[oci.KeyCommit]
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
	v, err := version.ParseDriver(labels[oci.KeyVersion])
	if err != nil || labels[oci.KeyDriver] == "" || len(labels[oci.KeyRevision]) < 40 {
		return answer{}, false
	}
	return answer{Version: v, Known: true, By: "label", Commit: labels[oci.KeyRevision],
		At: inventory.Evidence{Text: fmt.Sprintf("labels %s=%s, %s=%s", oci.KeyVersion, v, oci.KeyRevision, labels[oci.KeyRevision])}}, true
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
var versionLabels = []string{oci.KeyVersion, "version"}

// label is the version of the first label that names one, and the label; nil where
// that isn't whole. On what Red Hat builds the labels are of OpenShift, or of the base
// image, and not the driver's.
func (i *image) label() (*version.Driver, string) {
	for name := range i.labels {
		if strings.HasPrefix(name, "io.openshift.") || strings.HasPrefix(name, "com.redhat.") {
			return nil, ""
		}
	}
	name := versionLabels[0]
	if i.labels[name] == "" {
		name = versionLabels[1]
	}
	v, err := version.ParseDriver(i.labels[name])
	if err != nil || !full.MatchString(i.labels[name]) {
		return nil, ""
	}
	return &v, name + "=" + i.labels[name]
}
