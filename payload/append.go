package payload

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/image/oci"
)

// createdBy is what the history says of the payload's layer.
const createdBy = "bake payload"

// NewImage makes an image of the payload alone: an OCI manifest for
// linux/amd64, the platform of the operator that takes the payload out of it
// with COPY --from. It isn't meant to be run. Its digest depends on the layer
// and the options alone.
func NewImage(layer v1.Layer, o ImageOptions) (v1.Image, error) {
	if p := (v1.Platform{OS: "linux", Architecture: "amd64"}); o.Platform != nil && !p.Satisfies(*o.Platform) {
		return nil, wrongPlatform("an image of the payload alone", p, *o.Platform)
	}
	b := &baseImage{
		manifest: &v1.Manifest{
			SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
			Config: v1.Descriptor{MediaType: types.OCIConfigJSON},
		},
		config: map[string]json.RawMessage{"architecture": []byte(`"amd64"`), "os": []byte(`"linux"`)},
		parsed: &v1.ConfigFile{RootFS: v1.RootFS{Type: "layers"}, Created: v1.Time{Time: time.Unix(0, 0).UTC()}},
	}
	return b.append(layer, o)
}

// Append puts the layer onto an image. The image stays what it was otherwise:
// user, entry point, environment, labels, and whether it is of docker's or the
// OCI's media types. It must be for Linux, and for o.Platform if that is set.
//
// Files of a base that holds a payload already show through: ReadBase tells
// which, Tree.Kept and LayerOptions.Removes what becomes of them.
func Append(base v1.Image, layer v1.Layer, o ImageOptions) (v1.Image, error) {
	b, err := readBase(base)
	if err != nil {
		return nil, err
	}
	have, err := oci.PlatformOf(v1.Descriptor{}, base)
	if err != nil {
		return nil, err
	}
	if have.OS != "" && have.OS != "linux" {
		return nil, wrongPlatform("the base", have, v1.Platform{OS: "linux"})
	}
	if o.Platform != nil && !have.Satisfies(*o.Platform) {
		return nil, wrongPlatform("the base", have, *o.Platform)
	}
	return b.append(layer, o)
}

func wrongPlatform(what string, have, want v1.Platform) error {
	return &fault.Error{
		What: fmt.Sprintf("%s is for %s, not for %s", what, have, strings.TrimSuffix(want.String(), "/")),
		Fix:  "give a base image for " + strings.TrimSuffix(want.String(), "/") + ", or leave the platform out",
	}
}

// baseImage is an image that is about to get one more layer.
type baseImage struct {
	manifest *v1.Manifest
	// config keeps the fields that package v1 doesn't know.
	config map[string]json.RawMessage
	parsed *v1.ConfigFile
	layers []v1.Layer
}

func readBase(base v1.Image) (*baseImage, error) {
	mt, err := base.MediaType()
	if err != nil {
		return nil, fmt.Errorf("read the base image: %w", err)
	}
	if !mt.IsImage() {
		return nil, &fault.Error{
			What: "the base has the media type " + string(mt) + ", which can't be appended to",
			Fix:  "give an OCI or docker schema 2 image",
		}
	}
	b := &baseImage{}
	if b.manifest, err = base.Manifest(); err != nil {
		return nil, fmt.Errorf("read the base image's manifest: %w", err)
	}
	b.manifest = b.manifest.DeepCopy()
	b.manifest.MediaType, b.manifest.Subject = mt, nil
	raw, err := base.RawConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the base image's configuration: %w", err)
	}
	if err := json.Unmarshal(raw, &b.config); err != nil {
		return nil, fmt.Errorf("read the base image's configuration: %w", err)
	}
	if b.parsed, err = base.ConfigFile(); err != nil {
		return nil, fmt.Errorf("read the base image's configuration: %w", err)
	}
	if b.layers, err = base.Layers(); err != nil {
		return nil, fmt.Errorf("read the base image's layers: %w", err)
	}
	if n := len(b.parsed.RootFS.DiffIDs); n != len(b.manifest.Layers) || n != len(b.layers) {
		return nil, &fault.Error{
			What: fmt.Sprintf("the base isn't a container image: %d layers, %d diff ids", len(b.manifest.Layers), n),
			Fix:  "give an image that a container runtime can run",
		}
	}
	return b, nil
}

func (b *baseImage) append(layer v1.Layer, o ImageOptions) (v1.Image, error) {
	desc, err := b.describe(layer)
	if err != nil {
		return nil, err
	}
	diffID, err := layer.DiffID()
	if err != nil {
		return nil, err
	}
	config, err := b.newConfig(diffID, layer, o)
	if err != nil {
		return nil, fmt.Errorf("encode the image configuration: %w", err)
	}
	m := b.manifest.DeepCopy()
	m.Layers = append(m.Layers, desc)
	if m.MediaType == types.OCIManifestSchema1 {
		m.Annotations = merged(m.Annotations, o.described(), o.Annotations)
	}
	if own, ok := layer.(*Layer); ok {
		layer = own.as(desc.MediaType)
	}
	return oci.NewImage(m, config, append(slices.Clip(b.layers), layer))
}

// describe gives the layer a media type of the base's family: registries
// refuse a manifest that mixes them.
// https://github.com/ko-build/ko/blob/main/pkg/build/gobuild.go
func (b *baseImage) describe(layer v1.Layer) (d v1.Descriptor, err error) {
	if d.Digest, err = layer.Digest(); err != nil {
		return d, err
	}
	if d.Size, err = layer.Size(); err != nil {
		return d, err
	}
	if d.MediaType, err = layer.MediaType(); err != nil {
		return d, err
	}
	if b.manifest.MediaType != types.DockerManifestSchema2 {
		return d, nil
	}
	if d.MediaType == types.OCILayerZStd {
		return d, &fault.Error{
			What: "the base has docker's media types (schema 2), which have none for zstd",
			Fix:  "use gzip, or convert the base: skopeo copy --format oci docker://BASE docker://COPY",
		}
	}
	d.MediaType = types.DockerLayer
	return d, nil
}

// newConfig is the base's configuration with the layer, its history, the time
// and the labels.
func (b *baseImage) newConfig(diffID v1.Hash, layer v1.Layer, o ImageOptions) ([]byte, error) {
	created := v1.Time{Time: o.Created.UTC()}
	if o.Created.IsZero() {
		created = b.parsed.Created
	}
	rootfs := b.parsed.RootFS
	rootfs.DiffIDs = append(slices.Clip(rootfs.DiffIDs), diffID)
	run, err := b.newRunConfig(layer, o)
	if err != nil {
		return nil, err
	}
	return withFields(b.config, map[string]any{
		"config":  run,
		"created": created,
		"history": append(b.history(), v1.History{Created: created, CreatedBy: createdBy}),
		"rootfs":  rootfs,
	})
}

// newRunConfig is the "config" part, where the labels are.
func (b *baseImage) newRunConfig(layer v1.Layer, o ImageOptions) (json.RawMessage, error) {
	var run map[string]json.RawMessage
	if old, ok := b.config["config"]; ok {
		if err := json.Unmarshal(old, &run); err != nil {
			return nil, err
		}
	}
	set := map[string]any{}
	if labels := merged(withoutOwnLabels(b.parsed.Config.Labels, layer), o.described(), o.Labels, ownLabels(layer)); labels != nil {
		set["Labels"] = labels
	}
	return withFields(run, set)
}

// withFields encodes old with some of its fields set again.
func withFields(old map[string]json.RawMessage, set map[string]any) (json.RawMessage, error) {
	all := map[string]any{}
	for k, v := range old {
		all[k] = v
	}
	maps.Copy(all, set)
	return json.Marshal(all)
}

// history returns one entry for each layer of the base. Tools that pair the
// two go wrong where a base left some out, so they are filled in.
func (b *baseImage) history() []v1.History {
	all := slices.Clone(b.parsed.History)
	n := len(b.layers)
	for _, h := range all {
		if !h.EmptyLayer {
			n--
		}
	}
	for range n {
		all = append(all, v1.History{CreatedBy: "unknown", Comment: "layer of the base image"})
	}
	return all
}
