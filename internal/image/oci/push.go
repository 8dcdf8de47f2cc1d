package oci

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync/atomic"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"golang.org/x/sync/errgroup"

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

// Push uploads an image or index to ref, REGISTRY/REPOSITORY[:TAG], and
// returns REGISTRY/REPOSITORY@sha256:... Blobs that the registry has are
// skipped, so a push that was cut off goes on where it was.
//
// A blob or manifest that fails for a reason that may pass (status 408, 429,
// 5xx, a cut connection, an upload that the registry lost) is tried again, up
// to five times over half a minute, or when the registry asks for it within a
// minute. Other errors, and the last of those, name the registry, its answer
// and what to do.
func Push(ctx context.Context, ref string, x ImageOrIndex, o Options) (string, error) {
	client, err := o.client(ref, true)
	if err != nil {
		return "", err
	}
	all, err := blobsOf(x)
	if err != nil {
		return "", err
	}
	blobs := slices.DeleteFunc(slices.Clone(all), func(b blob) bool { return b.desc.MediaType.IsImage() || b.desc.MediaType.IsIndex() })
	p := &pusher{client: client, meter: stream.NewMeter(o.Progress, sizeOf(blobs))}
	if err := p.push(ctx, blobs, x, cmp.Or(o.Jobs, pushJobs)); err != nil {
		return "", client.Fault(ctx, err)
	}
	return client.Ref.Context().Name() + "@" + all[len(all)-1].desc.Digest.String(), nil
}

type pusher struct {
	client *registry.Client
	remote *remote.Pusher
	meter  *stream.Meter
}

// push uploads the manifests of x after the blobs that they refer to.
func (p *pusher) push(ctx context.Context, blobs []blob, x ImageOrIndex, jobs int) (err error) {
	if p.remote, err = remote.NewPusher(append(p.client.Remote(context.Background()), remote.WithJobs(jobs))...); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for _, b := range blobs {
		g.Go(func() error { return p.client.Do(gctx, func() error { return p.upload(gctx, b) }) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return p.client.Do(ctx, func() error { return p.remote.Push(ctx, p.client.Ref, x) })
}

// upload uploads a blob, or sees that it is there. Bytes are counted while they
// go, and taken back when that fails.
func (p *pusher) upload(ctx context.Context, b blob) error {
	l := b.layer
	if l == nil {
		l = static.NewLayer(b.data, b.desc.MediaType)
	}
	sent := &counter{meter: p.meter}
	counted := v1.Layer(countedLayer{l, sent})
	if base, ok := l.(*layer); ok {
		if from, ok := base.store.(*registryStore); ok { // perhaps it needn't be copied
			counted = &remote.MountableLayer{Layer: counted, Reference: from.reference(base.desc)}
		}
	}
	if err := p.remote.Upload(ctx, p.client.Ref.Context(), counted); err != nil {
		p.meter.Add(-sent.n.Load())
		return err
	}
	p.meter.Add(b.desc.Size - sent.n.Load())
	return nil
}

type counter struct {
	n     atomic.Int64
	meter *stream.Meter
}

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.meter.Write(p)
}

// countedLayer is a layer whose bytes are counted when they are sent.
// go-containerregistry's WithProgress sends on a channel, after its end too.
type countedLayer struct {
	v1.Layer
	sent *counter
}

func (l countedLayer) Compressed() (io.ReadCloser, error) {
	rc, err := l.Layer.Compressed()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(rc, l.sent), rc}, nil
}
