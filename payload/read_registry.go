package payload

import (
	"cmp"
	"context"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/fault"
)

func parseRef(ref string, opts LoadOptions) (name.Reference, error) {
	var o []name.Option
	if opts.Insecure {
		o = append(o, name.Insecure)
	}
	r, err := name.ParseReference(ref, o...)
	if err != nil {
		return nil, &fault.Error{
			What: "not a registry reference: " + err.Error(), Where: cmp.Or(ref, "docker://"), Err: err,
			Fix: "write REGISTRY/REPOSITORY@sha256:... or REGISTRY/REPOSITORY:TAG",
		}
	}
	return r, nil
}

func (o LoadOptions) remote(ctx context.Context) []remote.Option {
	opts := []remote.Option{remote.WithContext(ctx), remote.WithUserAgent(o.UserAgent)}
	if o.Keychain != nil {
		opts = append(opts, remote.WithAuthFromKeychain(o.Keychain))
	}
	if o.idle == 0 {
		o.idle = idleTimeout
	}
	opts = append(opts, remote.WithTransport(idleTransport{Secured(remote.DefaultTransport, o.Insecure), o.idle}))
	if o.backoff != nil {
		opts = append(opts, remote.WithRetryBackoff(*o.backoff))
	}
	return opts
}

func loadRegistry(ctx context.Context, ref string, opts LoadOptions) (*Source, error) {
	r, err := parseRef(ref, opts)
	if err != nil {
		return nil, err
	}
	desc, err := remote.Get(r, opts.remote(ctx)...)
	if err != nil {
		return nil, registryFault(ctx, r, err)
	}
	s := &Source{name: r.Context().Name(), Digest: desc.Digest, retries: opts.retries()}
	switch {
	case desc.MediaType.IsIndex():
		if s.index, err = desc.ImageIndex(); err == nil {
			s.index = registryIndex{s.index, s}
		}
	case desc.MediaType.IsImage():
		if s.image, err = desc.Image(); err == nil {
			s.image = registryImage{s.image, s}
		}
	default:
		err = &fault.Error{
			What: "neither an image nor an index: its media type is " + string(desc.MediaType), Where: ref,
			Fix: "give an image; artifacts of other kinds hold no payload",
		}
	}
	return s, err
}

// fault turns an error of reading s into one for people. Local images give
// faults from the start; a registry's client doesn't.
func (s *Source) fault(err error) error {
	if s.Kind != KindRegistry || err == nil {
		return err
	}
	r, perr := name.ParseReference(s.Reference())
	if perr != nil {
		return err
	}
	return registryFault(context.Background(), r, err)
}
