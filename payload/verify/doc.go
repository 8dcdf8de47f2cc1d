// Package verify checks the payload in an image, wherever the image is: each
// file against the checksum list and back, names, modes, what a container would
// see of the layers, and what labels say of it.
//
// [Open] opens an image, [Check] tells what is wrong with its payload. Nothing is
// unpacked to disk, and nothing is judged that isn't in the image: pins and
// releases are the caller's, by [Options]. It writes nothing.
package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
)

// Source is an image, an index of images, or a folder of files. Open makes it.
type Source interface {
	// Reference names it by digest, and a folder by its path.
	Reference() string
	Close() error
}

// OpenOptions says how Open reaches an image. The zero value reads public images
// over https.
type OpenOptions struct {
	// Platform picks one image out of an index; nil takes all Linux images.
	Platform *v1.Platform
	// Keychain gives credentials for registries; nil is for anonymous.
	Keychain authn.Keychain
	// Insecure talks plain http to the registry.
	Insecure  bool
	UserAgent string
	// Timeout is how long a registry may be silent; 0 is for two minutes.
	Timeout time.Duration
	// Retrying is told of each failure that is tried again. May be nil.
	Retrying func(err error)
}

// Open opens an OCI layout, a tarball, a folder of files or a reference into a
// registry. ctx also bounds later reads from a registry. The caller closes the
// Source.
func Open(ctx context.Context, ref string, o OpenOptions) (Source, error) {
	return oci.Load(ctx, ref, oci.Options{
		Platform: o.Platform, Keychain: o.Keychain, Insecure: o.Insecure, UserAgent: o.UserAgent, Timeout: o.Timeout, Retrying: o.Retrying,
	})
}

// opened is what Open made.
func opened(s Source) (*oci.Source, error) {
	if o, ok := s.(*oci.Source); ok {
		return o, nil
	}
	return nil, fmt.Errorf("a %T isn't a source that Open made", s)
}

// Limits bound what a hostile image can make Check do, in bytes and entries. A zero
// field takes its default.
type Limits struct {
	MaxFile, MaxTotal int64
	MaxEntries        int
}

func (l Limits) ofWalk() rootfs.Limits {
	return rootfs.Limits{MaxFile: l.MaxFile, MaxTotal: l.MaxTotal, MaxEntries: l.MaxEntries}
}
