package verify

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

// baseVersion is raised when ReadBase would give another answer of the same
// image than before: it is part of the cache key.
const baseVersion = 3

// Base is what a base's Linux images have where a payload goes, in the order of its
// index and without their extras.
type Base struct {
	Images []ImageSummary
	// Problems are what is wrong with their payloads: see Check. An image
	// without a payload is fine, and extras don't matter.
	Problems []Problem
}

// baseKey is the key of what is known of a base.
func baseKey(s *oci.Source) string {
	platform := ""
	if s.Platform() != nil {
		platform = s.Platform().String()
	}
	return sha256Of([]byte(fmt.Sprintf("winbake payload base %d %s %s", baseVersion, s.Digest, platform)))
}

// ReadBase reads the images that a payload is to be put onto with Append or
// AppendIndex. All of their layers are read, once: the store remembers the
// answer.
func ReadBase(ctx context.Context, source Source, store payload.Store, progress func(done, total int64)) (*Base, error) {
	s, err := opened(source)
	if err != nil {
		return nil, err
	}
	key := baseKey(s)
	b := &Base{}
	known, err := store.Lookup(key, b)
	if known || err != nil {
		return b, err
	}
	problems, sum, err := Check(ctx, s, Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	for _, i := range sum.Images {
		i.Extras = Extras{}
		b.Images = append(b.Images, i)
	}
	b.Problems = slices.DeleteFunc(problems, func(p Problem) bool {
		return p.ID == IDMissing || strings.HasPrefix(p.ID, "payload.extras.")
	})
	if err := store.Record(key, b); err != nil {
		return nil, fmt.Errorf("record the base image: %w", err)
	}
	return b, nil
}

// Keeps are the files that stay when the tree is put onto the image: those
// whose paths it doesn't bring. It is an error if one clashes with a file that
// it does. The tree's paths are enough, its files needn't be there yet.
func (b *ImageSummary) Keeps(t *payload.Tree) (kept []payload.KeptFile, err error) {
	brought := map[string]bool{}
	for _, f := range t.Files {
		brought[f.Path] = true
	}
	for _, f := range b.Files {
		if !brought[f.Path] {
			kept = append(kept, payload.KeptFile{Path: f.Path, SHA256: f.SHA256, Size: f.Size, Base: b.Digest})
		}
	}
	with := &payload.Tree{Files: t.Files, Kept: kept}
	return kept, with.CheckPaths()
}

// Removes are the image's files but for kept ones, for LayerOptions.
func (b *ImageSummary) Removes(kept []payload.KeptFile) []string {
	stays := map[string]bool{}
	for _, k := range kept {
		stays[File{Path: k.Path, Archived: b.Format == payload.Archived}.stored()] = true
	}
	return slices.DeleteFunc(slices.Clone(b.Paths), func(p string) bool { return stays[p] })
}

// own are the problems of one image beside those of its layers, which images
// may share: what its configuration and its manifest say.
func (c *checker) own(i oci.PlatformImage, r *result) ([]Problem, error) {
	cf, err := i.Image.ConfigFile()
	if err != nil {
		return nil, err
	}
	m, err := i.Image.Manifest()
	if err != nil {
		return nil, err
	}
	r.summary.Release, r.summary.Operator = payload.ReleaseOf(cf.Config.Labels), len(cf.Config.Entrypoint) > 0
	ps := append(mountedOver(cf.Config.Volumes), tables(m, r.layers)...)
	r.summary.Base = cf.Config.Labels[oci.KeyBaseDigest]
	var wrong []Problem
	r.summary.Kept, wrong = keptOf(cf.Config.Labels)
	// Of an image that wasn't read to its end nothing can be missed.
	if !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.ID == IDTarBomb }) {
		ps = slices.Concat(ps, r.summary.Extras.labelled(cf.Config.Labels), wrong, r.kept())
	}
	return append(ps, r.expected(c.opts.Expected)...), nil
}

// mountedOver finds volumes that hide a root, or a part of one, from the
// container: its engine mounts another folder there.
func mountedOver(volumes map[string]struct{}) (ps []Problem) {
	for _, v := range slices.Sorted(maps.Keys(volumes)) {
		at := strings.TrimPrefix(path.Clean("/"+v), "/")
		for _, root := range roots {
			if at == "" || at == root || strings.HasPrefix(at, root+"/") {
				ps = append(ps, problem(IDVolume, "/"+root, "the volume "+printable.Quote(v), "no volume there"))
			}
		}
	}
	return ps
}

// tablePrefixes begin the annotations that say where a layer has a table of
// contents beside its tar: zstd:chunked, eStargz, and what containerd's
// snapshotters put instead of a tar.
// https://github.com/containers/storage/blob/main/docs/containers-storage-zstd-chunked.md
// https://github.com/containerd/stargz-snapshotter/blob/main/docs/estargz.md
var tablePrefixes = []string{"io.github.containers.zstd-chunked.", "io.containers.estargz.", "containerd.io/snapshot/"}

// tables finds layers, of those that were read, that an engine may fill from
// something else than their tar. Honest builders write them too (podman push
// --compression-format zstd:chunked), so it is a question and not a fault.
func tables(m *v1.Manifest, read int) (ps []Problem) {
	for _, l := range m.Layers[max(len(m.Layers)-read, 0):] {
		for _, key := range slices.Sorted(maps.Keys(l.Annotations)) {
			if slices.ContainsFunc(tablePrefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
				p := problem(IDLayerTable, "layer "+l.Digest.String(), "the annotation "+printable.Quote(key),
					fmt.Sprintf("a layer of a tar alone (%s)", l.MediaType))
				p.Severity = SeverityUnknown
				ps = append(ps, p)
				break
			}
		}
	}
	return ps
}
