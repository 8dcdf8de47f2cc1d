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

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
)

// Source is an opened image, index of images, or folder of files.
type Source = oci.Source

// OpenOptions says how Open reaches an image. The zero value reads public images
// over https.
type OpenOptions = oci.Options

// Limits bound what a hostile image can make Check do. A zero field takes its
// default.
type Limits = rootfs.Limits

// Open opens an OCI layout, a tarball, a folder of files or a reference into a
// registry. ctx also bounds later reads from a registry. The caller closes the
// Source.
func Open(ctx context.Context, ref string, o OpenOptions) (*Source, error) {
	return oci.Load(ctx, ref, o)
}
