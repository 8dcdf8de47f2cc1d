package payload

import (
	"context"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/errgroup"
)

// pushJobs is the default of PushOptions.Jobs, go-containerregistry's own.
const pushJobs = 4

// PushOptions says how Push reaches a registry. The zero value pushes over
// https without credentials.
type PushOptions struct {
	// Jobs is how many blobs are uploaded at once; 0 stands for 4.
	Jobs int
	// Keychain gives credentials; nil stands for anonymous.
	Keychain authn.Keychain
	// Insecure talks plain http. It doesn't make https accept any certificate.
	// Without it, plain http is spoken to this machine alone.
	Insecure bool
	// UserAgent is sent to the registry.
	UserAgent string
	// Progress counts the bytes of all blobs, those too that were there
	// already. May be nil.
	Progress Progress
	// Retrying is told of each failure that is tried again. May be nil.
	Retrying func(err error)

	transport http.RoundTripper // of tests
	backoff   backoff           // zero: defaultBackoff
}

// Push uploads an image or index to ref, REGISTRY/REPOSITORY[:TAG], and
// returns REGISTRY/REPOSITORY@sha256:... Blobs that the registry has are
// skipped, so a push that was cut off goes on where it was.
//
// A blob or manifest that fails for a reason that may pass (status 408, 429,
// 5xx, a cut connection) is tried again, up to five times over half a minute,
// or as late as the registry asks for. Other errors, and the last of those,
// name the registry, its answer and what to do.
func Push(ctx context.Context, ref string, x ImageOrIndex, o PushOptions) (string, error) {
	r, err := parseRef(ref, LoadOptions{Insecure: o.Insecure})
	if err != nil {
		return "", err
	}
	blobs, err := blobsOf(x)
	if err != nil {
		return "", err
	}
	p, err := newPusher(r, blobs, o)
	if err != nil {
		return "", err
	}
	if err := p.push(ctx, x); err != nil {
		return "", pushFault(ctx, r, err)
	}
	return r.Context().Name() + "@" + blobs[len(blobs)-1].desc.Digest.String(), nil
}

// pusher uploads the blobs of one image, each with retries of its own: in
// go-containerregistry's Write one blob's failure cuts the others off, and its
// pauses don't end with the context.
type pusher struct {
	ref     name.Reference
	blobs   []blob
	remote  *remote.Pusher
	wire    *wire
	options PushOptions
}

func newPusher(ref name.Reference, blobs []blob, o PushOptions) (*pusher, error) {
	if o.Jobs <= 0 {
		o.Jobs = pushJobs
	}
	if o.backoff == (backoff{}) {
		o.backoff = defaultBackoff
	}
	if o.transport == nil {
		o.transport = remote.DefaultTransport
	}
	w := newWire(Secured(o.transport, o.Insecure), blobs, o.Progress)
	opts := []remote.Option{
		remote.WithTransport(w), remote.WithJobs(o.Jobs), remote.WithUserAgent(o.UserAgent),
		// One attempt, no pause: retries are ours.
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
	}
	if o.Keychain != nil {
		opts = append(opts, remote.WithAuthFromKeychain(o.Keychain))
	}
	rp, err := remote.NewPusher(opts...)
	if err != nil {
		return nil, err
	}
	return &pusher{ref: ref, blobs: blobs, remote: rp, wire: w, options: o}, nil
}

func (p *pusher) push(ctx context.Context, x ImageOrIndex) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(p.options.Jobs)
	for _, b := range p.blobs {
		if b.desc.MediaType.IsImage() || b.desc.MediaType.IsIndex() {
			continue // manifests come after what they refer to
		}
		g.Go(func() error { return p.upload(gctx, b) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return p.retry(ctx, func(ctx context.Context) error { return p.remote.Push(ctx, p.ref, x) })
}

func (p *pusher) upload(ctx context.Context, b blob) error {
	l := b.layer
	if base, ok := l.(registryLayer); ok {
		l = base.Layer // which the client mounts in place of copying it
	}
	if l == nil {
		var err error
		if l, err = partial.ConfigLayer(rawConfig(b.data)); err != nil {
			return err
		}
	}
	return p.retry(ctx, func(ctx context.Context) error {
		err := p.remote.Upload(ctx, p.ref.Context(), l)
		own, ok := l.(*Layer)
		if err == nil || !ok || ctx.Err() != nil {
			return err
		}
		// Perhaps it is our copy that is damaged, not the connection.
		if mended, rerr := own.repair(ctx); rerr != nil {
			return rerr
		} else if mended {
			return p.remote.Upload(ctx, p.ref.Context(), l)
		}
		return err
	})
}

// rawConfig makes bytes the configuration that partial.ConfigLayer takes.
type rawConfig []byte

func (c rawConfig) RawConfigFile() ([]byte, error) { return c, nil }
