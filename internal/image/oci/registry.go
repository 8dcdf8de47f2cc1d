package oci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/image/registry"
)

// registryStore is the blobStore of a repository in a registry.
type registryStore struct {
	client *registry.Client
	puller *remote.Puller
	ctx    context.Context // Load's, which bounds later reads
	root   map[v1.Hash][]byte
}

func loadRegistry(ctx context.Context, ref string, o Options) (*Source, error) {
	client, err := registry.New(ref, o)
	if err != nil {
		return nil, err
	}
	puller, err := remote.NewPuller(client.Remote(ctx)...)
	if err != nil {
		return nil, err
	}
	r := &registryStore{client: client, puller: puller, ctx: ctx}
	root, err := r.get(client.Ref)
	if err != nil {
		return nil, err
	}
	r.root = map[v1.Hash][]byte{root.Digest: root.Manifest}
	s := &Source{Kind: KindRegistry, Name: client.Ref.Context().Name(), store: r}
	return s, s.openRoot(root.Descriptor, ref)
}

func (r *registryStore) byDigest() bool {
	_, ok := r.client.Ref.(name.Digest)
	return ok
}

func (r *registryStore) reference(d v1.Descriptor) name.Digest {
	return r.client.Ref.Context().Digest(d.Digest.String())
}

func (r *registryStore) where(d v1.Descriptor) string { return r.reference(d).Name() }

func (r *registryStore) fix() string {
	return "build and push the image again; if it stays, tell those who run " + r.host()
}

func (r *registryStore) host() string { return r.client.Ref.Context().RegistryStr() }

// stat believes what the manifest says: a registry isn't asked for each layer.
func (r *registryStore) stat(d v1.Descriptor) (int64, error) { return d.Size, nil }

func (r *registryStore) get(ref name.Reference) (desc *remote.Descriptor, err error) {
	err = r.client.Do(r.ctx, func() error {
		desc, err = r.puller.Get(r.ctx, ref)
		return err
	})
	if err != nil {
		err = r.client.Fault(r.ctx, err)
	}
	return desc, err
}

func (r *registryStore) open(d v1.Descriptor) (io.ReadCloser, error) {
	raw, known := r.root[d.Digest]
	if d.MediaType.IsImage() || d.MediaType.IsIndex() {
		if !known {
			desc, err := r.get(r.reference(d))
			if err != nil {
				return nil, err
			}
			raw = desc.Manifest
		}
		return io.NopCloser(bytes.NewReader(raw)), nil
	}
	b := &remoteBlob{store: r, desc: d, attempts: r.client.Attempts()}
	b.ctx, b.cancel = context.WithCancel(r.ctx)
	if err := b.resume(b.fetch()); err != nil {
		b.cancel()
		return nil, err
	}
	return b, nil
}

// remoteBlob is a blob of a registry. What the registry cuts off is fetched
// again, up to where it was, and goes on from there.
type remoteBlob struct {
	store    *registryStore
	desc     v1.Descriptor
	ctx      context.Context // until Close
	cancel   context.CancelFunc
	attempts *registry.Attempts
	rc       io.ReadCloser
	n        int64 // passed on
}

func (b *remoteBlob) Read(p []byte) (int, error) {
	n, err := b.rc.Read(p)
	b.n += int64(n)
	switch {
	case err == nil:
		return n, nil
	case b.n >= b.desc.Size && b.ctx.Err() == nil:
		return n, io.EOF // the client hashed one fetch, and who reads hashes what came of all
	}
	return n, b.resume(early(err))
}

// early makes a body that ended early and in good order the cut that it is.
func early(err error) error {
	if _, known := errors.AsType[*registry.Failure](err); known {
		return err
	}
	return &registry.Failure{Err: err}
}

// resume fetches the blob until there is no error any more, or it is for good.
func (b *remoteBlob) resume(err error) error {
	for err != nil {
		if err = b.attempts.Failed(b.ctx, err); err != nil {
			return b.fault(err)
		}
		err = b.fetch()
	}
	return nil
}

// fetch opens the blob and skips what was passed on.
func (b *remoteBlob) fetch() error {
	if b.rc != nil {
		_ = b.rc.Close() // it is broken
	}
	l, err := b.store.puller.Layer(b.ctx, b.store.reference(b.desc))
	if err != nil {
		return err
	}
	if b.rc, err = l.Compressed(); err != nil {
		return err
	}
	if _, err = io.CopyN(io.Discard, b.rc, b.n); err != nil {
		return early(err)
	}
	return nil
}

// Close ends a Read that waits, too, and with it the connection.
func (b *remoteBlob) Close() error {
	b.cancel()
	return nil
}

// fault tells a registry that stops early from one that can't be read at all.
func (b *remoteBlob) fault(err error) error {
	f, failed := errors.AsType[*registry.Failure](err)
	if _, answered := errors.AsType[*transport.Error](err); b.ctx.Err() != nil || answered || !failed || b.n == 0 {
		return b.store.client.Fault(b.ctx, err)
	}
	did := "cut the connection"
	if f.Silence != "" {
		did = "sent nothing more"
	}
	return &fault.Error{
		What:  fmt.Sprintf("registry %s %s after %d of %d bytes of a layer, the last of %d times", b.store.host(), did, b.n, b.desc.Size, b.attempts.N),
		Where: b.store.where(b.desc), Err: err,
		Fix: "run it again; if it stays, copy the image and name the copy: skopeo copy --all docker://" + b.store.client.Ref.Name() + " oci:DIR",
	}
}
