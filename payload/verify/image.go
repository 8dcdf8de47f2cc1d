package verify

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/payload"
)

// own are the problems of one image beside those of its layers, which images
// may share: what its configuration and its manifest say.
func (c *checker) own(i ociimage.PlatformImage, r *result) ([]Problem, error) {
	cf, err := c.source.ConfigOf(i.Image)
	if err != nil {
		return nil, err
	}
	m, err := i.Image.Manifest()
	if err != nil {
		return nil, c.source.Fault(err)
	}
	r.summary.Release, r.summary.Operator = payload.ReleaseOf(cf.Config.Labels), len(cf.Config.Entrypoint) > 0
	ps := append(mountedOver(cf.Config.Volumes), tables(m, r.layers)...)
	r.summary.Base = cf.Config.Labels[ociimage.KeyBaseDigest]
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
// snapshotters put in place of a tar.
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
