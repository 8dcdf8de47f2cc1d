package oci

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

// manifestLimit bounds manifests, indexes and configurations in bytes: they are
// held in memory. Registries needn't take larger ones:
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
	return &verifiedBlob{ReadCloser: rc, hash: h, desc: d, store: s}, nil
}

type verifiedBlob struct {
	io.ReadCloser
	hash  hash.Hash
	desc  v1.Descriptor
	store blobStore
	n     int64
}

func (v *verifiedBlob) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.hash.Write(p[:n])
	v.n += int64(n)
	switch {
	case v.n > v.desc.Size:
		err = v.damaged(fmt.Sprintf("longer than the %d bytes that its manifest says", v.desc.Size))
	case err == io.EOF && v.n < v.desc.Size:
		err = v.damaged(fmt.Sprintf("cut off: %d of %d bytes", v.n, v.desc.Size))
	case err == io.EOF:
		if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.desc.Digest.Hex {
			err = v.damaged(fmt.Sprintf("its bytes have another digest: sha256:%s, not %s", got, v.desc.Digest))
		}
	case err != nil && !isFault(err):
		err = &fault.Error{What: "can't be read: " + infile.Cause(err), Where: v.store.where(v.desc), Err: err, Fix: v.store.fix()}
	}
	return n, err
}

func (v *verifiedBlob) damaged(what string) error {
	return damaged(v.store.where(v.desc), what, v.store.fix())
}

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

// damaged is the fault of an image whose bytes contradict its own digests: a
// check that failed, not a failure to check.
func damaged(where, what, fix string) error {
	return &fault.Error{What: what, Where: where, Fix: fix, Code: finding.ExitBlock}
}

// Unreadable is the fault of a reference that names no image that can be read.
func Unreadable(path string, err error) error {
	if os.IsNotExist(err) {
		return &fault.Error{
			What: "no such file or folder", Where: path, Err: fs.ErrNotExist,
			Fix: "give an OCI layout, an image tarball, a payload folder, or a reference that begins with its registry: quay.io/team/image@sha256:...",
		}
	}
	return &fault.Error{What: "can't be read: " + infile.Cause(err), Where: path, Err: err, Fix: "ls -ld " + shell.Word(path)}
}

func isFault(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return ok
}
