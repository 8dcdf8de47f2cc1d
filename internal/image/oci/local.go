package oci

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

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

// The names that make a folder or a tarball an OCI image layout:
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md
const (
	layoutFile   = "oci-layout"
	indexFile    = "index.json"
	manifestFile = "manifest.json" // of a docker-archive

	layoutVersion = "1.0.0" // there is no other
)

// refName is the annotation with an image's tag in a layout's index.json:
// https://github.com/opencontainers/image-spec/blob/main/annotations.md
const refName = "org.opencontainers.image.ref.name"

func blobPath(h v1.Hash) string { return path.Join("blobs", h.Algorithm, h.Hex) }

// localStore is a blobStore of the files of a layout or a docker-archive, in a
// folder or a tarball.
type localStore struct {
	// read gives a file and its size, and fs.ErrNotExist where there is none.
	read      func(name string) (io.ReadCloser, int64, error)
	name, sep string // of the folder or tarball, and what comes before a file's name
	fixed     string
	path      func(v1.Hash) string // of a blob's file
	made      map[v1.Hash][]byte   // blobs that are in no file
}

func (s localStore) where(d v1.Descriptor) string { return s.place(s.path(d.Digest)) }
func (s localStore) place(name string) string     { return s.name + s.sep + name }
func (s localStore) fix() string                  { return s.fixed }

func (s localStore) damaged(name, what string) error { return damaged(s.place(name), what, s.fixed) }

func (s localStore) open(d v1.Descriptor) (io.ReadCloser, error) {
	rc, _, err := s.blob(d)
	return rc, err
}

func (s localStore) stat(d v1.Descriptor) (int64, error) {
	rc, n, err := s.blob(d)
	if err != nil {
		return 0, err
	}
	return n, rc.Close()
}

func (s localStore) blob(d v1.Descriptor) (io.ReadCloser, int64, error) {
	if raw, ok := s.made[d.Digest]; ok {
		return io.NopCloser(bytes.NewReader(raw)), int64(len(raw)), nil
	}
	return s.file(s.path(d.Digest), "this blob of the image is missing")
}

func (s localStore) file(name, missing string) (io.ReadCloser, int64, error) {
	rc, n, err := s.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = s.damaged(name, missing)
	case err != nil && !isFault(err):
		err = Unreadable(s.place(name), err)
	}
	return rc, n, err
}

// small reads a file that every layout or archive has.
func (s localStore) small(name string) ([]byte, error) {
	rc, n, err := s.file(name, "missing: a truncated image")
	if err != nil {
		return nil, err
	}
	defer rc.Close() //nolint:errcheck // only read
	if n > manifestLimit {
		return nil, s.damaged(name, fmt.Sprintf("%d bytes, more than any manifest", n))
	}
	raw, err := io.ReadAll(rc)
	if err == nil && int64(len(raw)) < n {
		return nil, s.damaged(name, fmt.Sprintf("cut off (%d of %d bytes)", len(raw), n))
	}
	if err != nil {
		return nil, Unreadable(s.place(name), err)
	}
	return raw, nil
}

// inFolder is the store of a layout's folder. A blob is a regular file, else it is
// damaged, and no link is followed to it. The files that say that this is a layout are
// given by the user: links are followed, and another kind of file can't be read.
func inFolder(dir string) localStore {
	s := localStore{
		name: dir, sep: string(filepath.Separator), path: blobPath,
		fixed: "write the layout again as it was written (bake payload, bake driver), or copy it again from where it is whole",
	}
	s.read = func(name string) (io.ReadCloser, int64, error) {
		isBlob, stat := name != layoutFile && name != indexFile, os.Lstat
		if !isBlob {
			stat = os.Stat
		}
		info, err := stat(s.place(name))
		if err != nil {
			return nil, 0, err
		}
		switch wrong := infile.Check(info); {
		case wrong != nil && isBlob:
			return nil, 0, s.damaged(name, wrong.Error())
		case wrong != nil:
			return nil, 0, wrong
		}
		f, err := os.Open(s.place(name))
		return f, info.Size(), err
	}
	return s
}

// loadLayout opens what the files of a layout, oci-layout and index.json,
// point to. One entry is the image or the index itself, whatever its tag.
// Several entries are taken as an index: that is how some writers lay out an
// image of several platforms.
func loadLayout(f localStore, kind Kind) (*Source, error) {
	raw, err := f.small(layoutFile)
	if err != nil {
		return nil, err
	}
	var mark struct{ ImageLayoutVersion string }
	if err := json.Unmarshal(raw, &mark); err != nil || mark.ImageLayoutVersion != layoutVersion {
		return nil, f.damaged(layoutFile, "not the mark of an OCI layout of version "+layoutVersion)
	}
	if raw, err = f.small(indexFile); err != nil {
		return nil, err
	}
	m, err := parseLayoutIndex(raw)
	if err != nil {
		return nil, f.damaged(indexFile, "not an image index: "+err.Error())
	}
	s := &Source{Kind: kind, Name: f.name, store: f}
	switch len(m.Manifests) {
	case 0:
		return nil, &fault.Error{What: "holds no image: its list of manifests is empty", Where: f.place(indexFile), Fix: f.fixed}
	case 1:
		return s, s.openRoot(m.Manifests[0], f.place(indexFile))
	}
	s.index, s.topLevel = storedIndex(s.store, m.MediaType, raw), true
	s.Digest, err = s.index.Digest()
	return s, err
}

// openRoot opens the manifest that a source is; place is what names it.
func (s *Source) openRoot(d v1.Descriptor, place string) (err error) {
	s.Digest = d.Digest
	switch {
	case d.MediaType.IsIndex():
		s.index, err = openIndex(s.store, d)
	case d.MediaType.IsImage():
		s.image, err = openImage(s.store, d)
	default:
		err = &fault.Error{
			What: "neither an image nor an index: its media type is " + string(d.MediaType), Where: place,
			Fix: "give an image; artifacts of other kinds hold no payload",
		}
	}
	return err
}

// parseLayoutIndex reads an index.json, which no digest covers.
func parseLayoutIndex(raw []byte) (*v1.IndexManifest, error) {
	m, err := v1.ParseIndexManifest(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if m.SchemaVersion != 2 {
		return nil, errors.New("its schemaVersion isn't 2")
	}
	if !m.MediaType.IsIndex() { // docker's own is fine, as some writers leave it
		m.MediaType = types.OCIImageIndex
	}
	if wrong := wrongManifest(m.MediaType, raw); wrong != "" {
		return nil, errors.New(wrong)
	}
	return m, nil
}
