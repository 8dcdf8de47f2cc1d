package ociimage

import (
	"context"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/registry"
	"github.com/winbake/winbake/internal/stream"
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
	// Timeout is how long the registry may be silent, or take less than 1 KiB a
	// second; 0 stands for two minutes. Then it is asked once more.
	Timeout time.Duration
	// Progress counts the bytes of all blobs, those too that were there
	// already. May be nil.
	Progress stream.Progress
	// Retrying is told of each failure that is tried again. May be nil.
	Retrying func(err error)

	Transport http.RoundTripper // of tests
}

// CheckPush refuses what can't be pushed to, without asking the registry.
func CheckPush(ref string) error {
	_, err := registry.Parse(ref, false)
	return err
}

// Push uploads an image or index to ref, REGISTRY/REPOSITORY[:TAG], and
// returns REGISTRY/REPOSITORY@sha256:... Blobs that the registry has are
// skipped, so a push that was cut off goes on where it was.
//
// A blob or manifest that fails for a reason that may pass (status 408, 429,
// 5xx, a cut connection, an upload that the registry lost) is tried again, up
// to five times over half a minute, or when the registry asks for it within a
// minute. Other errors, and the last of those, name the registry, its answer
// and what to do.
func Push(ctx context.Context, ref string, x ImageOrIndex, o PushOptions) (string, error) {
	client, err := registry.New(ref, registry.Options{
		Push: true, Keychain: o.Keychain, Insecure: o.Insecure, UserAgent: o.UserAgent, Timeout: o.Timeout,
		Retrying: o.Retrying, Transport: o.Transport,
	})
	if err != nil {
		return "", err
	}
	blobs, err := blobsOf(x)
	if err != nil {
		return "", err
	}
	p, err := newPusher(client, blobs, o)
	if err != nil {
		return "", err
	}
	if err := p.push(ctx, x); err != nil {
		return "", client.Fault(ctx, err)
	}
	return client.Ref.Context().Name() + "@" + blobs[len(blobs)-1].desc.Digest.String(), nil
}

type pusher struct {
	client *registry.Client
	blobs  []blob // without manifests
	jobs   int
	remote *remote.Pusher
	meter  *stream.Meter
}

func newPusher(client *registry.Client, all []blob, o PushOptions) (*pusher, error) {
	p := &pusher{client: client, jobs: o.Jobs}
	if p.jobs <= 0 {
		p.jobs = pushJobs
	}
	for _, b := range all {
		if !b.desc.MediaType.IsImage() && !b.desc.MediaType.IsIndex() {
			p.blobs = append(p.blobs, b)
		}
	}
	p.meter = stream.NewMeter(o.Progress, sizeOf(p.blobs))
	var err error
	p.remote, err = remote.NewPusher(append(client.Remote(context.Background()), remote.WithJobs(p.jobs))...)
	return p, err
}

func (p *pusher) push(ctx context.Context, x ImageOrIndex) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(p.jobs)
	for _, b := range p.blobs {
		g.Go(func() error { return p.upload(gctx, b) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	// The manifests come after what they refer to.
	return p.client.Do(ctx, func() error { return p.remote.Push(ctx, p.client.Ref, x) })
}

func (p *pusher) upload(ctx context.Context, b blob) error {
	l := b.layer
	if l == nil {
		l = static.NewLayer(b.data, b.desc.MediaType)
	}
	return p.client.Do(ctx, func() error { return p.once(ctx, l, b.desc.Size) })
}

// once uploads a layer, or sees that it is there. Bytes are counted while they
// go, and taken back when that fails.
func (p *pusher) once(ctx context.Context, l v1.Layer, size int64) error {
	c := &sent{meter: p.meter}
	counted := v1.Layer(countedLayer{l, c})
	if base, ok := l.(registryLayer); ok {
		if m, ok := base.Layer.(*remote.MountableLayer); ok { // perhaps it needn't be copied
			counted = &remote.MountableLayer{Layer: counted, Reference: m.Reference}
		}
	}
	err := p.remote.Upload(ctx, p.client.Ref.Context(), counted)
	if err != nil {
		size = 0
	}
	c.end(size)
	return err
}
