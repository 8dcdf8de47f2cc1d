package ociimage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/shell"
)

type layoutBlobs struct{ dir string }

var _ blobStore = layoutBlobs{}

func (l layoutBlobs) fix() string {
	return "write the layout again (bake payload --layout " + shell.Word(l.dir) + "), or copy it again from where it is whole"
}

func (l layoutBlobs) where(d v1.Descriptor) string {
	return filepath.Join(l.dir, blobPath(d.Digest))
}

func (l layoutBlobs) stat(d v1.Descriptor) (int64, error) {
	info, err := os.Lstat(l.where(d))
	if err != nil {
		return 0, l.missing(d, err)
	}
	if !info.Mode().IsRegular() {
		return 0, damaged(l.where(d), "not a regular file ("+info.Mode().Type().String()+")", l.fix())
	}
	return info.Size(), nil
}

func (l layoutBlobs) open(d v1.Descriptor) (io.ReadCloser, error) {
	if _, err := l.stat(d); err != nil {
		return nil, err
	}
	f, err := os.Open(l.where(d))
	if err != nil {
		return nil, l.missing(d, err)
	}
	return f, nil
}

func (l layoutBlobs) missing(d v1.Descriptor, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return damaged(l.where(d), "this blob of the layout is missing", l.fix())
	}
	return Unreadable(l.where(d), err)
}

func blobPath(h v1.Hash) string { return path.Join("blobs", h.Algorithm, h.Hex) }

func loadLayout(dir string) (*Source, error) {
	store := layoutBlobs{dir: dir}
	mark, err := store.small(layoutFile)
	if err != nil {
		return nil, err
	}
	raw, err := store.small(indexFile)
	if err != nil {
		return nil, err
	}
	return sourceOfLayout(store, mark, raw, dir, func(name string) string { return filepath.Join(dir, name) })
}

// small reads one of the two files that every layout has.
func (l layoutBlobs) small(name string) ([]byte, error) {
	place := filepath.Join(l.dir, name)
	f, err := infile.Open(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged(place, "missing: a truncated OCI layout", l.fix())
	}
	if err != nil {
		return nil, Unreadable(place, err)
	}
	defer f.Close() // only read
	raw, err := io.ReadAll(io.LimitReader(f, manifestLimit))
	if err != nil {
		return nil, Unreadable(place, err)
	}
	return raw, nil
}

// sourceOfLayout opens what the files of a layout, oci-layout and index.json,
// point to. One entry is the image or the index itself, whatever its tag.
// Several entries are taken as an index: that is how some writers lay out an
// image of several platforms.
func sourceOfLayout(store blobStore, mark, raw []byte, name string, placeOf func(string) string) (*Source, error) {
	if err := wrongMark(mark); err != nil {
		return nil, damaged(placeOf(layoutFile), "not the mark of an OCI layout: "+err.Error(), store.fix())
	}
	place := placeOf(indexFile)
	m, err := parseLayoutIndex(raw)
	if err != nil {
		return nil, damaged(place, "not an image index: "+err.Error(), store.fix())
	}
	s := &Source{Name: name, blobs: store}
	switch len(m.Manifests) {
	case 0:
		return nil, &fault.Error{What: "holds no image: its list of manifests is empty", Where: place, Fix: store.fix()}
	case 1:
		return s, s.openRoot(m.Manifests[0], place)
	}
	h, n, err := v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	d := v1.Descriptor{MediaType: types.OCIImageIndex, Digest: h, Size: n}
	if m.MediaType.IsIndex() { // docker's own, as some writers leave it
		d.MediaType = m.MediaType
	}
	s.index, s.Digest, s.topLevel = &storedIndex{store: store, desc: d, raw: raw}, h, true
	return s, nil
}

// openRoot opens the one manifest of a layout.
func (s *Source) openRoot(d v1.Descriptor, place string) (err error) {
	s.Digest = d.Digest
	switch {
	case d.MediaType.IsIndex():
		s.index, err = newStoredIndex(s.blobs, d)
	case d.MediaType.IsImage():
		s.image, err = newStoredImage(s.blobs, d)
	default:
		err = &fault.Error{
			What: "neither an image nor an index: its media type is " + string(d.MediaType), Where: place,
			Fix: "give an image layout; artifacts of other kinds hold no payload",
		}
	}
	return err
}

// layoutVersion is the one version of layouts that there is:
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md#oci-layout-file
const layoutVersion = "1.0.0"

func wrongMark(raw []byte) error {
	mark, err := parseObject(raw)
	if err != nil {
		return err
	}
	if mark["imageLayoutVersion"] != layoutVersion {
		return errors.New("its imageLayoutVersion isn't " + layoutVersion)
	}
	return nil
}

// parseLayoutIndex reads an index.json, which no digest covers.
func parseLayoutIndex(raw []byte) (*v1.IndexManifest, error) {
	top, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	if err := wrongIndex(top); err != nil {
		return nil, err
	}
	m, err := parseIndex(raw)
	if err != nil {
		return nil, err
	}
	mt := types.OCIImageIndex
	if m.MediaType.IsIndex() { // docker's own, as some writers leave it
		mt = m.MediaType
	}
	if wrong := wrongManifest(mt, raw); wrong != "" {
		return nil, errors.New(wrong)
	}
	return m, nil
}

// wrongIndex wants what the specification requires, key by key:
// https://github.com/opencontainers/image-spec/blob/main/image-index.md
func wrongIndex(top map[string]any) error {
	if top["schemaVersion"] != 2.0 {
		return errors.New("its schemaVersion isn't 2")
	}
	manifests, ok := top["manifests"].([]any)
	if !ok {
		return errors.New("no list of manifests")
	}
	for _, m := range manifests {
		entry, _ := m.(map[string]any)
		for _, key := range []string{"mediaType", "digest", "size"} {
			if entry[key] == nil {
				return fmt.Errorf("an entry of its manifests has no %s", key)
			}
		}
	}
	return nil
}

// parseObject reads one JSON object with its keys as they are written: into a
// struct, Go would take them in upper or lower case, as other readers don't.
func parseObject(raw []byte) (m map[string]any, err error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	return m, json.Unmarshal(raw, &m)
}
