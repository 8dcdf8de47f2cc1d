package oci

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
)

// manifestLimit bounds manifests, indexes and configurations in bytes: they are
// held in memory, where each may take eighty times as much. Registries needn't
// take larger ones:
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-manifests
const manifestLimit = 4 << 20

// blobStore has the blobs of an image: a folder, a tarball or a registry. Its
// errors are faults.
type blobStore interface {
	// open returns the raw bytes of a blob, which nobody has compared with its
	// digest.
	open(d v1.Descriptor) (io.ReadCloser, error)
	// stat tells the size of a blob that needn't be fetched to tell it.
	stat(d v1.Descriptor) (int64, error)
	// where names a blob's place for people.
	where(d v1.Descriptor) string
	// fix says how to get the image whole again.
	fix() string
}

const (
	// MaxIndexDepth ends nested indexes. Digests forbid a true cycle; a
	// registry that lies about them could still offer an endless chain.
	MaxIndexDepth = 4
	// maxIndexEntries bounds the images of one source.
	maxIndexEntries = 256
	// maxLayers bounds the layers of one image. Engines on Linux can't mount
	// more than 127 of docker's or some 500 of overlayfs's own.
	maxLayers = 500
)

// openVerified opens a blob that gives a fault instead of io.EOF when its
// bytes aren't those that d names.
func openVerified(s blobStore, d v1.Descriptor) (io.ReadCloser, error) {
	h, err := v1.Hasher(d.Digest.Algorithm)
	if err != nil {
		return nil, damaged(s.where(d), "a digest of an unknown kind, "+d.Digest.String(), s.fix())
	}
	rc, err := s.open(d)
	if err != nil {
		return nil, err
	}
	return &verifiedBlob{rc: rc, hash: h, desc: d, store: s}, nil
}

type verifiedBlob struct {
	rc    io.ReadCloser
	hash  hash.Hash
	desc  v1.Descriptor
	store blobStore
	n     int64
	err   error
}

func (v *verifiedBlob) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.rc.Read(p)
	v.hash.Write(p[:n])
	v.n += int64(n)
	switch {
	case v.n > v.desc.Size:
		err = v.fault(fmt.Sprintf("longer than the %d bytes that its manifest says", v.desc.Size))
	case err == io.EOF:
		err = v.end()
	case err != nil && !isFault(err):
		err = &fault.Error{What: "can't be read: " + infile.Cause(err), Where: v.store.where(v.desc), Err: err, Fix: v.store.fix()}
	}
	v.err = err
	return n, err
}

func (v *verifiedBlob) end() error {
	if v.n < v.desc.Size {
		return v.fault(fmt.Sprintf("cut off: %d of %d bytes", v.n, v.desc.Size))
	}
	if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.desc.Digest.Hex {
		return v.fault(fmt.Sprintf("its bytes have another digest: sha256:%s, not %s", got, v.desc.Digest))
	}
	return io.EOF
}

func (v *verifiedBlob) fault(what string) error {
	return damaged(v.store.where(v.desc), what, v.store.fix())
}

func (v *verifiedBlob) Close() error { return v.rc.Close() }

func readVerified(s blobStore, d v1.Descriptor) ([]byte, error) {
	if d.Size < 0 || d.Size > manifestLimit {
		return nil, damaged(s.where(d), fmt.Sprintf("said to have %d bytes, more than any manifest", d.Size), s.fix())
	}
	rc, err := openVerified(s, d)
	if err != nil {
		return nil, err
	}
	defer rc.Close() //nolint:errcheck // only read
	return io.ReadAll(rc)
}

// readManifest reads what d names, an image or an index, and refuses one whose
// bytes don't decide what an engine makes of it.
func readManifest(s blobStore, d v1.Descriptor) ([]byte, error) {
	raw, err := readVerified(s, d)
	if err != nil {
		return nil, err
	}
	if wrong := wrongManifest(d.MediaType, raw); wrong != "" {
		return nil, damaged(s.where(d), wrong, s.fix())
	}
	return raw, nil
}

// wrongManifest says why engines could take a document for something else than
// the descriptor that names it does: the same bytes read as an image by one and
// as an index by another (CVE-2021-41190).
func wrongManifest(mt types.MediaType, raw []byte) string {
	var m struct {
		MediaType                           types.MediaType
		Config, Layers, FSLayers, Manifests json.RawMessage
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return "not a manifest: " + err.Error()
	}
	switch {
	case m.MediaType != "" && m.MediaType != mt:
		return fmt.Sprintf("it calls itself %s, and what names it says %s", m.MediaType, mt)
	case m.FSLayers != nil, m.Manifests != nil && (m.Config != nil || m.Layers != nil):
		return "an image and an index at once"
	case mt.IsImage() && m.Manifests != nil:
		return "an index under an image's media type"
	case mt.IsIndex() && (m.Config != nil || m.Layers != nil):
		return "an image under an index's media type"
	}
	return ""
}

// looksRunnable tells bytes that an engine could read as an image or an index.
func looksRunnable(raw []byte) bool {
	var m struct{ Config, Layers, FSLayers, Manifests json.RawMessage }
	err := json.NewDecoder(bytes.NewReader(raw)).Decode(&m)
	return err == nil && (m.Config != nil || m.Layers != nil || m.FSLayers != nil || m.Manifests != nil)
}

func beyondLimits(m *v1.Manifest) string {
	switch {
	case m.Config.Size < 0 || m.Config.Size > manifestLimit:
		return fmt.Sprintf("its configuration is said to have %d bytes, the limit is %d", m.Config.Size, manifestLimit)
	case len(m.Layers) > maxLayers:
		return fmt.Sprintf("%d layers, the limit is %d", len(m.Layers), maxLayers)
	}
	return ""
}

// damaged is the fault of an image whose bytes contradict its own digests: a
// check that failed, not a failure to check.
func damaged(where, what, fix string) error {
	return &fault.Error{What: what, Where: where, Fix: fix, Code: finding.ExitBlock}
}
