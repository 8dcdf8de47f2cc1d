package oci

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/registry"
)

// pushJobs is the default of Options.Jobs, go-containerregistry's own.
const pushJobs = 4

// CheckPush refuses what can't be pushed to, without asking the registry.
func CheckPush(ref string) error {
	_, err := registry.Parse(ref, false)
	return err
}

// CheckRepository refuses what is no REGISTRY/REPOSITORY, without asking the registry.
func CheckRepository(ref string) error {
	parsed, err := registry.Parse(ref, false)
	if err == nil && parsed.Context().Name() != ref && parsed.Context().RepositoryStr() != ref {
		err = &fault.Error{What: "it is a repository that is asked for, and no tag or digest", Where: ref, Fix: "give " + parsed.Context().Name()}
	}
	return err
}

// RepositoryOf is a reference without its tag or digest.
func RepositoryOf(ref string) (string, error) {
	parsed, err := registry.Parse(ref, false)
	if err != nil {
		return "", err
	}
	return parsed.Context().Name(), nil
}

// Push uploads an image or index to ref, REGISTRY/REPOSITORY[:TAG], and
// returns REGISTRY/REPOSITORY@sha256:... Blobs that the registry has are
// skipped, so a push that was cut off goes on where it was.
//
// What fails for a reason that may pass (status 408, 429, 5xx, a cut connection,
// an upload that the registry lost) is tried again, up to five times over half a
// minute in which nothing arrives, or when the registry asks for it within a minute.
// Other errors, and the last of those, name the registry, its answer and what to do.
func Push(ctx context.Context, ref string, x ImageOrIndex, o Options) (string, error) {
	client, err := registry.New(ref, o)
	if err != nil {
		return "", err
	}
	blobs, err := blobsOf(x)
	if err != nil {
		return "", err
	}
	digest, total := blobs[len(blobs)-1].desc.Digest, sizeOf(blobs)
	meter := stream.NewMeter(o.Progress, total)
	client.Push, client.Sent = true, func(n int) { meter.Add(int64(n)) }
	// It remembers what it has uploaded.
	pusher, err := remote.NewPusher(append(client.Remote(ctx), remote.WithJobs(cmp.Or(o.Jobs, pushJobs)))...)
	if err != nil {
		return "", err
	}
	if err := client.Do(ctx, func() error { return pusher.Push(ctx, client.Ref, x) }); err != nil {
		return "", client.Fault(ctx, err)
	}
	meter.Add(total) // what was there already
	pushed := client.Ref.Context().Digest(digest.String())
	_, err = remote.Head(pushed, client.Remote(ctx)...)
	if te, ok := errors.AsType[*transport.Error](err); ok && te.StatusCode == http.StatusNotFound {
		return "", &fault.Error{
			What: "registry " + pushed.RegistryStr() + " says that it took the image, and doesn't have it", Where: pushed.Name(),
			Fix: "run it again; if it stays, tell those who run " + pushed.RegistryStr(),
		}
	}
	return pushed.Name(), ctx.Err()
}
