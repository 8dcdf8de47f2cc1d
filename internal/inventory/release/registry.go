package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/payload"
)

// localPrefixes are those of containers/image (podman, skopeo) that name files.
var localPrefixes = []string{"oci:", "oci-archive:", "docker-archive:", "dir:"}

// isRegistry tells a reference into a registry from what is or should be on
// disk. A name without a registry in front is a mistyped file more often than
// an image of Docker Hub.
func isRegistry(ref string) bool {
	if strings.HasPrefix(ref, "docker://") {
		return true
	}
	for _, p := range localPrefixes {
		if strings.HasPrefix(ref, p) {
			return false
		}
	}
	if _, err := os.Stat(ref); err == nil || strings.HasPrefix(ref, ".") || strings.HasPrefix(ref, "/") {
		return false
	}
	host, _, ok := strings.Cut(ref, "/")
	return ok && (strings.ContainsAny(host, ".:") || host == "localhost")
}

func openRemote(ctx context.Context, ref string, o Options) (*releaseImage, error) {
	ref = strings.TrimPrefix(ref, "docker://")
	var opts []name.Option
	if o.Insecure {
		opts = append(opts, name.Insecure)
	}
	r, err := name.ParseReference(ref, opts...)
	if err != nil {
		return nil, &fault.Error{
			What: "not a registry reference: " + err.Error(), Where: ref, Err: err,
			Fix: "write REGISTRY/REPOSITORY@sha256:... or REGISTRY/REPOSITORY:TAG",
		}
	}
	d, err := remote.Get(r, o.remote(ctx)...)
	if err != nil {
		return nil, registryFault(ctx, r, err)
	}
	img, err := imageIn(r, d)
	if err != nil {
		return nil, registryFault(ctx, r, err)
	}
	return &releaseImage{
		Image: img, reference: r.Context().Name() + "@" + d.Digest.String(), close: func() {},
		fault: func(ctx context.Context, err error) error { return registryFault(ctx, r, err) },
	}, nil
}

// imageIn is the image, or of a release for several architectures the one for
// amd64; where there is none, the first.
func imageIn(r name.Reference, d *remote.Descriptor) (v1.Image, error) {
	if !d.MediaType.IsIndex() {
		return d.Image()
	}
	idx, err := d.ImageIndex()
	if err != nil {
		return nil, err
	}
	m, err := idx.IndexManifest()
	if err != nil {
		return nil, err
	}
	images := slices.DeleteFunc(slices.Clone(m.Manifests), func(d v1.Descriptor) bool { return !d.MediaType.IsImage() })
	if len(images) == 0 {
		return nil, &fault.Error{
			What: "an index without images", Where: r.Name(), Fix: "give a release image, or a file about one: " + saveInfo,
		}
	}
	i := slices.IndexFunc(images, func(d v1.Descriptor) bool {
		return d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64"
	})
	return idx.Image(images[max(i, 0)].Digest)
}

func (o Options) remote(ctx context.Context) []remote.Option {
	opts := []remote.Option{remote.WithContext(ctx), remote.WithUserAgent(o.UserAgent), remote.WithTransport(payload.Secured(remote.DefaultTransport, o.Insecure))}
	if o.Keychain != nil {
		opts = append(opts, remote.WithAuthFromKeychain(o.Keychain))
	}
	if o.backoff != nil {
		opts = append(opts, remote.WithRetryBackoff(*o.backoff))
	}
	return opts
}

// registryFault says which registry did what, and what helps. A site without
// a way to the registry can always bring a file.
func registryFault(ctx context.Context, ref name.Reference, err error) error {
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	registry := ref.Context().RegistryStr()
	f := &fault.Error{Where: ref.Name(), Err: err}
	if te, ok := errors.AsType[*transport.Error](err); ok {
		f.What = fmt.Sprintf("registry %s answered %d %s", registry, te.StatusCode, http.StatusText(te.StatusCode))
		f.Fix = statusFix(ref, te.StatusCode)
		return f
	}
	f.What, f.Fix = connectionFault(registry, err)
	return f
}

const bringFile = "; without a way there, save it elsewhere: " + saveInfo

func statusFix(ref name.Reference, status int) string {
	registry := ref.Context().RegistryStr()
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "podman login " + registry + bringFile
	case status == http.StatusNotFound:
		return "check the name; what is there: skopeo list-tags docker://" + ref.Context().Name()
	case status == http.StatusTooManyRequests:
		return "wait and run it again, or log in: podman login " + registry
	case status >= http.StatusInternalServerError:
		return "run it again" + bringFile
	}
	return "check the name and the registry: curl -I https://" + registry + "/v2/"
}

func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func connectionFault(registry string, err error) (what, fix string) {
	cause := err.Error()
	if ue, ok := errors.AsType[*url.Error](err); ok {
		cause = ue.Err.Error()
	}
	switch {
	case strings.Contains(cause, "server gave HTTP response to HTTPS client"):
		return "registry " + registry + " speaks plain http", "if that is meant, say --insecure"
	case isCut(err):
		return "registry " + registry + " cut the connection", "run it again" + bringFile
	case strings.Contains(cause, "error verifying"):
		return "registry " + registry + " sent other bytes than the digest says", "run it again; if it stays, tell those who run " + registry
	}
	return "registry " + registry + " can't be read: " + cause, "check the name and the network" + bringFile
}
